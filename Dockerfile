# docker build -t likewise .
# docker run -v "$PWD":/work likewise verify claim.toml
#
# A tag may name another image tomorrow. To build on one image for good, name it by its digest:
#   docker buildx imagetools inspect python:3.12-slim      (prints Digest: sha256:...)
#   docker build --build-arg BASE=python:3.12-slim@sha256:... -t likewise .
ARG BASE=python:3.12-slim

FROM $BASE AS build
RUN python -m venv /opt/likewise
COPY . /src
RUN /opt/likewise/bin/python -m pip install --no-cache-dir --constraint /src/constraints.txt "/src[all]" xgboost-cpu

FROM $BASE
# LightGBM and scikit-learn need OpenMP's runtime.
RUN apt-get update && apt-get install -y --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/likewise /opt/likewise
RUN useradd --create-home likewise
USER likewise
# Compiled loops are kept here.
ENV NUMBA_CACHE_DIR=/home/likewise/.cache/numba PATH=/opt/likewise/bin:$PATH
WORKDIR /work
ENTRYPOINT ["likewise"]
CMD ["--help"]
