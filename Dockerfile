# docker build -t likewise .
# docker run -v "$PWD":/work likewise verify claim.toml
FROM python:3.12-slim
# LightGBM and scikit-learn need OpenMP's runtime.
RUN apt-get update && apt-get install -y --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN python -m pip install --no-cache-dir "/src[all]" xgboost-cpu -c /src/constraints.txt && rm -rf /src
RUN useradd --create-home likewise
USER likewise
# Compiled loops are kept here.
ENV NUMBA_CACHE_DIR=/home/likewise/.cache/numba
WORKDIR /work
ENTRYPOINT ["likewise"]
CMD ["--help"]
