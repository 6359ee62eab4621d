"""The published vectors, with the functions of verify.py: where its answers differ from what they say, they are printed."""

import glob
import json
import os
import sys

from verify import Refused, canonical, strict_json, verify_ed25519

FIXTURES = sys.argv[1]


def load(name):
    return json.load(open(os.path.join(FIXTURES, name), encoding="utf-8"))


wrong, counts = [], {}


def expect(kind, name, good):
    counts[kind] = counts.get(kind, 0) + 1
    if not good:
        wrong.append(f"{kind} {name}")


def refuses(data):
    try:
        strict_json(data)
        return False
    except Refused:
        return True


for case in load("jcs/strict-reject.json")["cases"]:
    expect("strict", case["input_hex"], refuses(bytes.fromhex(case["input_hex"])))
for case in load("jcs/strict-reject.json")["accept"]:
    expect("strict", case["input"], canonical(strict_json(case["input"].encode())) == case["canonical"].encode())
for path in glob.glob(os.path.join(FIXTURES, "jcs/input/*.json")):
    name = os.path.basename(path).replace(".json", ".txt")
    output = bytes.fromhex("".join(open(os.path.join(FIXTURES, "jcs/outhex", name)).read().split()))
    expect("jcs", path, canonical(strict_json(open(path, "rb").read())) == output)

unhex = bytes.fromhex
for case in load("ed25519/rfc8032.json"):
    expect("rfc8032", case["pub"], verify_ed25519(unhex(case["pub"]), unhex(case["msg"]), unhex(case["sig"])))
for group in load("ed25519/wycheproof_ed25519_test.json")["testGroups"]:
    for case in group["tests"]:
        valid = verify_ed25519(unhex(group["publicKey"]["pk"]), unhex(case["msg"]), unhex(case["sig"]))
        expect("wycheproof", case["tcId"], valid == (case["result"] == "valid"))
doubtful = {"low_order_A", "low_order_R", "non_canonical_A", "non_canonical_R", "low_order_residue"}
for case in load("ed25519/cctv_ed25519vectors.json"):
    valid = verify_ed25519(unhex(case["key"]), case["msg"].encode(), unhex(case["sig"]))
    expect("cctv", case["number"], valid == (not doubtful & set(case["flags"] or [])))

print(json.dumps({"counts": counts, "wrong": wrong}))
