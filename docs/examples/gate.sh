#!/bin/sh
# A gate before deployment: ends with 0 only if every claim in claims/ is proved of the model that it names,
# and the proofs were checked again, against the claim and the model's own parameters, by the independent checker.
#
# Exit codes: those of `likewise verify` (1 BIASED, 3 UNKNOWN, 2 input error) and `likewise-check` (4 rejected, 1 no proof of fairness).
set -eu

out=fairness
mkdir -p "$out"
rm -f "$out"/*.likewise # of an earlier run

likewise verify claims/*.toml --budget 600 --certificate "$out" \
    --junit "$out/junit.xml" --sarif "$out/likewise.sarif"

for claim in claims/*.toml; do
    name=$(basename "$claim" .toml)
    likewise export "$claim" --whole -o "$out/$name.claim"
    likewise-check "$out/$name.likewise" --claim "$out/$name.claim" --expect fair
done
