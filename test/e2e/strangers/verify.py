"""Verifies a Spanseal bundle, from docs/evidence-format.md alone: it shares nothing with Spanseal but that page and the published
JSON Schema. Needs Python 3.9 and `cryptography`.

    verify.py BUNDLE --trust FILE [--checkpoint FILE] [--schema FILE]     prints {"status", "exit", "codes"} as JSON
    verify.py --records FILE --schema FILE                                checks a list of records by their published key
"""

import argparse
import base64
import gzip
import hashlib
import hmac
import json
import math
import re
import struct
import sys
import zlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

RECORD_TYPE = "application/vnd.spanseal.record.v1+json"
APPROVAL_TYPE = "application/vnd.spanseal.approval.v1+json"
APPROVER_TYPE = "application/vnd.spanseal.approver.v1+json"
SPKI_HEAD = bytes.fromhex("302a300506032b6570032100")
MAX_LINE, MAX_ALL, MAX_RECORD = 1 << 20, 64 << 20, 60_000
BROKEN, NOT_OBEYED, WARNING = "B", "E", "W"


# Section 1: strict JSON and canonical bytes


class Refused(Exception):
    pass


def strict_json(data):
    def pairs(items):
        keys = [key for key, _ in items]
        if len(set(keys)) != len(keys):
            raise Refused("duplicate key")
        return dict(items)

    def integer(text):
        value = int(text) if len(text) < 20 else 1 << 60
        if text == "-0" or abs(value) > 2**53 - 1:
            raise Refused("integer out of range")
        return value

    def real(text):
        value = float(text)
        if value in (float("inf"), float("-inf")) or (value == 0 and text.startswith("-")):
            raise Refused("number")
        return int(value) if abs(value) < 2**53 and value.is_integer() else value

    def constant(_):
        raise Refused("not finite")

    def walk(value, depth):
        if depth > 64:
            raise Refused("depth")
        if isinstance(value, str) and any(0xD800 <= ord(c) <= 0xDFFF for c in value):
            raise Refused("half of a surrogate pair")
        if isinstance(value, dict):
            for key, member in value.items():
                walk(key, depth)
                walk(member, depth + 1)
        if isinstance(value, list):
            for member in value:
                walk(member, depth + 1)

    try:
        text = data.decode("utf-8")
        value = json.loads(
            text, object_pairs_hook=pairs, parse_int=integer, parse_float=real, parse_constant=constant
        )
        walk(value, 1 if isinstance(value, (dict, list)) else 0)
    except (ValueError, RecursionError) as error:
        raise Refused(str(error)) from error
    return value


def canonical(value):
    return canonical_text(value).encode("utf-8")


def canonical_text(value):
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ",".join(canonical_text(member) for member in value) + "]"
    keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
    return "{" + ",".join(canonical_text(key) + ":" + canonical_text(value[key]) for key in keys) + "}"


def number_text(value):
    """A number as ECMAScript writes it, from the shortest digits that Python's repr gives."""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len((whole + fraction).lstrip("0")))
    digits = digits.rstrip("0")
    sign = "-" if value < 0 else ""
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    mark = "e+" if point - 1 > 0 else "e-"
    return sign + digits[0] + ("." + digits[1:] if digits[1:] else "") + mark + str(abs(point - 1))


def unbase64(text):
    try:
        data = base64.b64decode(text, validate=True)
    except (ValueError, TypeError) as error:
        raise Refused("base64") from error
    if base64.b64encode(data).decode() != text:
        raise Refused("base64 in another spelling")
    return data


# The published JSON Schema: just the words it uses


def fits(schema, value):
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    kind = schema.get("type")
    if kind in kinds and not isinstance(value, kinds[kind]):
        return False
    if kind in ("number", "integer") and (isinstance(value, bool) or not isinstance(value, (int, float))):
        return False
    if kind == "integer" and not isinstance(value, int):
        return False
    if "const" in schema and (value != schema["const"] or isinstance(value, bool) != isinstance(schema["const"], bool)):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if "not" in schema and fits(schema["not"], value):
        return False
    if "anyOf" in schema and not any(fits(one, value) for one in schema["anyOf"]):
        return False
    if not all(fits(one, value) for one in schema.get("allOf", [])):
        return False
    if isinstance(value, str):
        units = len(value.encode("utf-16-be")) // 2
        if not schema.get("minLength", 0) <= units <= schema.get("maxLength", units):
            return False
        if "pattern" in schema and not re.search(schema["pattern"].replace("$", r"\Z"), value, re.ASCII):
            return False
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            return False
    if isinstance(value, list):
        if len(value) > schema.get("maxItems", len(value)):
            return False
        if "items" in schema and not all(fits(schema["items"], member) for member in value):
            return False
    if isinstance(value, dict):
        known = schema.get("properties", {})
        if any(key not in value for key in schema.get("required", [])):
            return False
        for key, member in value.items():
            if key in known:
                if not fits(known[key], member):
                    return False
            elif schema.get("additionalProperties") is False:
                return False
    return True


# Section 3: leaf, tree, signature


def sha256(data):
    return hashlib.sha256(data).digest()


def leaf_of(record):
    return sha256(b"\x00" + record)


class Tree:
    """Roots of the complete subtrees so far, largest first."""

    def __init__(self):
        self.size = 0
        self.stack = []

    def append(self, node, level=0):
        if self.size % (1 << level):
            return False
        self.size += 1 << level
        while self.stack and self.stack[-1][0] == level:
            node = sha256(b"\x01" + self.stack.pop()[1] + node)
            level += 1
        self.stack.append((level, node))
        return True

    def root(self):
        if not self.stack:
            return sha256(b"")
        root = self.stack[-1][1]
        for _, left in reversed(self.stack[:-1]):
            root = sha256(b"\x01" + left + root)
        return root


L = 2**252 + 27742317777372353535851937790883648493
P = 2**255 - 19
SMALL_ORDER = {0, 1, P - 1} | {
    int.from_bytes(bytes.fromhex(text), "little")
    for text in (
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    )
}


def good_point(point):
    y = int.from_bytes(point, "little") & (2**255 - 1)
    return len(point) == 32 and y < P and y not in SMALL_ORDER


def verify_ed25519(key, message, signature):
    if len(signature) != 64 or not good_point(key) or not good_point(signature[:32]):
        return False
    if int.from_bytes(signature[32:], "little") >= L:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False


def pae(payload_type, payload):
    return f"DSSEv1 {len(payload_type)} {payload_type} {len(payload)} ".encode() + payload


def verify_record(key, record, signature):
    return verify_ed25519(key, pae(RECORD_TYPE, record), signature)


def approver_bytes(approver, message, given):
    """What the approver's Ed25519 signature covers; None when nobody touched the security key."""
    flags, counter = given.get("flags"), given.get("counter")
    if approver["kind"] == "passphrase":
        return message if flags is None and counter is None else None
    if flags is None or counter is None or not flags & 1 or "application" not in approver:
        return None
    fields = (b"spanseal-approval", b"", b"sha512", hashlib.sha512(message).digest())
    blob = b"SSHSIG" + b"".join(struct.pack(">I", len(field)) + field for field in fields)
    return sha256(approver["application"].encode()) + struct.pack(">BI", flags, counter) + sha256(blob)


def key_of_spki(spki):
    return spki[12:] if len(spki) == 44 and spki[:12] == SPKI_HEAD and good_point(spki[12:]) else None


# Section 5: checkpoints


def verifier_key(text):
    name, key_id, key = text.split("+", 2)
    data = unbase64(key)
    expected = sha256(name.encode() + b"\n" + data)[:4].hex()
    if key_id != expected or data[0] != 1 or len(data) != 33:
        raise Refused("verifier key")
    return name, bytes.fromhex(key_id), data[1:]


def open_checkpoint(note, keys):
    """(name of the signer, origin, size, root) of a checkpoint that one of the keys signed."""
    if len(note) > 65536 or any(ord(c) < 32 and c != "\n" or 127 <= ord(c) < 160 for c in note):
        raise Refused("note")
    text, _, lines = note.rpartition("\n\n")
    text += "\n"
    if not text.strip("\n") or not note.endswith("\n"):
        raise Refused("note")
    signers = []
    for line in lines[:-1].split("\n"):
        match = re.fullmatch(r"— (\S+) (\S+)", line)
        if not match:
            raise Refused("signature line")
        data = unbase64(match[2])
        for name, key_id, key in keys:
            if name == match[1] and key_id == data[:4]:
                if name in signers or not verify_ed25519(key, text.encode(), data[4:]):
                    raise Refused("signature")
                signers.append(name)
    if not signers:
        raise Refused("no known key")
    origin, size, root, *more = text[:-1].split("\n")
    if not re.fullmatch(r"0|[1-9][0-9]{0,19}", size) or len(unbase64(root)) != 32 or "" in more or not origin:
        raise Refused("checkpoint")
    return signers[0], origin, int(size), unbase64(root)


# Section 8: trust file


def read_trust(text):
    trust = {"logs": [], "genesis": [], "record_keys": [], "approvers": []}
    for line in text.split("\n"):
        words = line.split()
        if not words or words[0].startswith("#") or words == ["quorum", "none"]:
            continue
        if words[0] == "log" and len(words) in (2, 3):
            trust["logs"].append(verifier_key(words[1]))
        elif words[0] == "genesis" and len(words) == 2 and re.fullmatch("[0-9a-f]{64}", words[1]):
            trust["genesis"].append(words[1])
        elif words[0] == "record-key" and len(words) == 2 and re.fullmatch("sha256:[0-9a-f]{64}", words[1]):
            trust["record_keys"].append(words[1])
        elif words[0] == "approver" and len(words) == 3 and key_of_spki(unbase64(words[2])):
            trust["approvers"].append("sha256:" + sha256(unbase64(words[2])).hex())
        else:
            raise Refused(f"trust file: {line}")
    return trust


# Section 9: what is checked

IMPORTS = {"spans.imported", "logs.imported", "metrics.imported", "session.imported"}
TIERS = {"hook": "T1", "sdk": "T1", "transcript": "T1", "gateway": "T2", "otlp": "T3"}
IMPORTS = ("spans.imported", "logs.imported", "metrics.imported", "session.imported")
RAN = ("ok", "error", "interrupted", "launched")


def milliseconds(time):
    import datetime

    return datetime.datetime.strptime(time, "%Y-%m-%dT%H:%M:%S.%fZ").timestamp() * 1000


class Verifier:
    def __init__(self, trust, schema, seen):
        self.trust, self.schema, self.seen = trust, schema, seen
        self.codes = {}
        self.tree, self.next, self.followed = Tree(), 0, True
        self.opened, self.keys, self.genesis = None, {}, None
        self.waiting, self.covered = [], None
        self.last_time, self.parts = "", {}
        self.calls, self.approvals, self.observed = {}, {}, set()
        self.approvers, self.after = {}, None
        self.in_scope, self.last = 0, None

    def add(self, code, severity=BROKEN):
        self.codes[code] = severity

    # The tree, and the checkpoints that wait for it

    def grow(self, node, level=0):
        self.next += 1 << level
        if self.followed and not self.tree.append(node, level):
            self.followed = False
        if self.followed:
            self.reach()

    def reach(self):
        for waiting in [one for one in self.waiting if one[0] == self.next]:
            self.waiting.remove(waiting)
            size, root, outside = waiting
            if root != self.tree.root():
                self.add("anchor.fork" if outside else "checkpoint.root")
            elif not outside:
                self.covered = size

    def checkpoint(self, note, outside):
        declared = [self.declared_log] if self.declared_log else []
        try:
            signer, origin, size, root = open_checkpoint(note, self.trust["logs"] or declared)
        except Refused:
            # A checkpoint of another origin is told as that, whoever signed it.
            other = re.match(r"[^\n]+", note)
            if self.opened and other and other[0] != self.opened["origin"]:
                return self.add("checkpoint.origin")
            return self.add("checkpoint.signature")
        if self.opened and origin != self.opened["origin"] or signer != origin:
            return self.add("checkpoint.origin")
        self.waiting.append((size, root, outside))

    # Records

    def begin(self, record, notes):
        self.genesis = leaf_of(record).hex()
        self.after = base64.b64encode(leaf_of(record)).decode()
        self.declared_log = None
        try:
            first = strict_json(record)
            opened = first["type"] == "log.opened" and fits(self.schema, first) and first["log"]["seq"] == 0
        except (Refused, KeyError, TypeError):
            opened = False
        if not opened:
            self.add("genesis.mismatch")
        else:
            self.opened = first["body"]
            self.log_id = first["log"]["id"]
            self.declared_log = verifier_key(self.opened["log_key"])
            for key in self.opened["keys"]:
                self.declare(key)
        for note in notes:
            self.checkpoint(note, False)
        for note in self.seen:
            self.checkpoint(note, True)

    def declare(self, key):
        spki = unbase64(key["spki"])
        kid, pinned = "sha256:" + sha256(spki).hex(), self.trust["record_keys"]
        if kid == key["kid"] and key_of_spki(spki) and (not pinned or kid in pinned):
            self.keys.setdefault(kid, {"key": key_of_spki(spki), "tiers": key["tiers"], "last": math.inf})

    def end(self, kid, last):
        if kid in self.keys:
            self.keys[kid]["last"] = min(self.keys[kid]["last"], last)

    def follow_keys(self, value):
        kind, body = value["type"], value["body"]
        if kind not in ("key.added", "key.retired", "key.revoked"):
            return
        if value["source"]["kind"] != "collector":
            self.add("tier.source_conflict")
        if kind == "key.added":
            self.declare(body)
        elif kind == "key.retired":
            self.end(body["kid"], body["last_seq"])
        else:
            self.end(body["kid"], value["log"]["seq"])
            self.add("record.key_revoked", WARNING)

    def read(self, record, kid, signature):
        """The record's value when it may be believed."""
        if len(record) > MAX_RECORD:
            return self.add("limit.record")
        try:
            value = strict_json(record)
            if canonical(value) != record:
                raise Refused("not canonical")
        except Refused:
            return self.add("record.syntax")
        if not fits(self.schema, value):
            return self.add("record.schema")
        if kid not in self.keys:
            return self.add("record.key_unknown")
        if not verify_record(self.keys[kid]["key"], record, signature):
            return self.add("record.signature")
        if max(self.next, value["log"]["seq"]) > self.keys[kid]["last"]:
            return self.add("record.key_retired")
        return value

    def record(self, record, kid, signature, scope):
        value = self.read(record, kid, signature)
        self.last = value
        leaf = leaf_of(record)
        if value is None:
            return self.grow(leaf)
        seq = value["log"]["seq"]
        if seq < self.next:
            self.followed = False
            return self.add("log.seq_duplicate")
        if seq > self.next:
            self.add("log.seq_missing")
            self.followed, self.next = False, seq
        if self.followed and unbase64(value["log"]["root"]) != self.tree.root():
            self.add("log.root_mismatch")
            self.followed = False
        self.grow(leaf)
        if self.opened and value["log"]["id"] != self.log_id:
            self.add("log.id_mismatch")
        if value["time"] < self.last_time:
            self.add("time.backwards")
        self.last_time = value["time"]
        tier, kind = value.get("tier"), value["source"]["kind"]
        if tier is not None and tier not in self.keys[kid]["tiers"]:
            self.add("tier.key_scope")
        if tier != TIERS.get(kind) or (value["type"] in IMPORTS and kind != "otlp"):
            self.add("tier.source_conflict")
        self.follow_keys(value)
        self.follow_approvers(value, base64.b64encode(leaf).decode())
        run = value.get("run")
        if run and run["id"] == scope["run"] and scope["part"] in (None, run["part"]):
            self.in_scope += 1
            self.follow_run(value, base64.b64encode(leaf).decode())
            self.follow_call(value, base64.b64encode(leaf).decode())

    def follow_run(self, value, leaf):
        run, key = value["run"], (value["run"]["id"], value["run"]["part"])
        part = self.parts.get(key)
        opening = value["type"] == "run.opened"
        if part is None:
            good = opening and run["seq"] == 0 and run["prev"] is None
        else:
            good = not opening and run["seq"] == part["seq"] + 1 and run["prev"] == part["leaf"]
        if not good:
            self.add("run.chain")
        if part and part["closed"]:
            self.add("run.after_close")
        closing = value["type"] == "run.closed"
        if closing and value["body"]["records"] != run["seq"] + 1:
            self.add("run.chain")
        if opening and value["body"]["mode"] == "observe":
            self.observed.add(key)
        closed = closing or bool(part and part["closed"])
        self.parts[key] = {"seq": run["seq"], "leaf": leaf, "closed": closed}

    def follow_call(self, value, leaf):
        body, kind = value["body"], value["type"]
        place = (value["run"]["id"], value["run"]["part"])
        call = (value["call"]["id"], value["call"]["attempt"]) if "call" in value else None
        args = next((one["c"] for one in value.get("commit", []) if one["n"] == "args"), None)
        if kind == "tool.decided":
            self.calls[leaf] = {
                "place": place, "call": call, "args": args, "uses": 0,
                "decision": body["decision"], "enforced": body["enforced"], "tool": body["tool"],
            }  # fmt: skip
        if kind == "tool.completed" and body["status"] in RAN:
            self.ran(place, call, args, body)
        if kind.startswith("approval."):
            self.approval(kind, value, place, call, args)

    def ran(self, place, call, args, body):
        decided = self.calls.get(body["decision"])
        if decided is None:
            # A bundle shows one run: a decision that is named and not there is no finding.
            if body["decision"] is None and place not in self.observed:
                self.add("policy.ungated", NOT_OBEYED)
            return
        if not decided["enforced"]:
            return
        if decided["decision"] == "deny":
            self.add("policy.ran_against_deny", NOT_OBEYED)
        if decided["decision"] == "ask":
            decided["uses"] -= 1
            if decided["uses"] < 0:
                self.add("policy.ran_without_approval", NOT_OBEYED)
        asked = (decided["place"], decided["call"], decided["tool"])
        if asked != (place, call, body["tool"]) or (args is not None and args != decided["args"]):
            self.add("policy.other_arguments", NOT_OBEYED)

    def follow_approvers(self, value, leaf):
        kind, body = value["type"], value["body"]
        if kind not in ("approver.added", "approver.removed"):
            return
        if body["after"] != self.after:
            self.add("approval.unbound")
        self.after = leaf
        if kind == "approver.removed":
            self.authenticate(body, APPROVER_TYPE, {"action": "remove", "after": body["after"], "kid": body["kid"]})
            self.approvers.pop(body["kid"], None)
            return
        names = ("after", "kid", "name", "kind", "spki", "application")
        change = {"action": "add", **{name: body[name] for name in names if name in body}}
        signer = self.authenticate(body, APPROVER_TYPE, change)
        spki = unbase64(body["spki"])
        if key_of_spki(spki) is None or body["kid"] != "sha256:" + sha256(spki).hex():
            return
        pinned = body["kid"] in self.trust["approvers"]
        if not pinned:
            self.add("approval.approver_not_pinned", WARNING)
        counts = pinned or bool(signer and signer["counts"])
        self.approvers[body["kid"]] = {**body, "key": key_of_spki(spki), "counts": counts}

    def authenticate(self, body, payload_type, value):
        """The approver who signed the value, if one did."""
        how = body["authentication"]
        if how == "break_glass":
            self.add("approval.break_glass", NOT_OBEYED)
        if how == "unauthenticated" and self.approvers:
            self.add("approval.approver_signature")
        if how != "signed":
            return None
        signer = self.approvers.get(body.get("approver"))
        message = pae(payload_type, canonical(value))
        signed = signer and approver_bytes(signer, message, body)
        if not signed or not verify_ed25519(signer["key"], signed, unbase64(body.get("signature", ""))):
            return self.add("approval.approver_signature")
        return signer

    def same_place(self, other, place, call):
        if place != other["place"]:
            self.add("approval.wrong_run")
        if call is not None and call != other["call"]:
            self.add("approval.wrong_call")

    def approval(self, kind, value, place, call, args):
        body = value["body"]
        asked = self.approvals.get(body["approval"])
        if kind == "approval.requested":
            if asked:
                return self.add("approval.replayed")
            decided = self.calls.get(body["decision"])
            if decided:
                if decided["decision"] != "ask":
                    self.add("approval.unbound")
                self.same_place(decided, place, call)
                if args is not None and args != decided["args"]:
                    self.add("approval.args_mismatch")
            self.approvals[body["approval"]] = {**body, "place": place, "call": call, "state": "asked"}
            return None
        if kind == "approval.answered" and body["authentication"] == "unauthenticated":
            self.add("approval.unauthenticated", WARNING)
            if self.trust["approvers"] and body["answer"] == "approve":
                self.add("approval.approver_signature")
        if asked is None or kind == "approval.refused":
            return None
        if kind == "approval.answered":
            signer = self.authenticate(body, APPROVAL_TYPE, self.binding(value, body["answer"], asked))
            if signer and self.trust["approvers"] and not signer["counts"]:
                self.add("approval.approver_signature")
        self.same_place(asked, place, call)
        if kind == "approval.expired":
            if asked["state"] != "used":
                asked["state"] = "ended"
            return None
        if body["nonce"] != asked["nonce"] or body.get("decision", asked["decision"]) != asked["decision"]:
            self.add("approval.unbound")
        if kind == "approval.answered":
            if asked["state"] == "ended":
                return self.add("approval.expired")
            if asked["state"] != "asked":
                return self.add("approval.replayed")
            asked["state"] = {"approve": "approved", "reject": "rejected"}[body["answer"]]
            return None
        if asked["state"] == "used":
            return self.add("approval.replayed")
        if asked["state"] == "ended" or milliseconds(value["time"]) > milliseconds(asked["expires"]) + 5000:
            return self.add("approval.expired")
        if asked["state"] != "approved":
            return self.add("approval.not_approved")
        asked["state"] = "used"
        if asked["decision"] in self.calls:
            self.calls[asked["decision"]]["uses"] += 1
        return None

    def binding(self, value, answer, asked):
        decided = self.calls.get(asked["decision"])
        call = value.get("call", {"id": "", "attempt": 0})
        bound = {name: asked[name] for name in ("tool", "decision", "policy_hash", "nonce", "expires")}
        args = decided["args"] if decided else None
        bound = {**bound, "run": value["run"]["id"], "call": call["id"], "attempt": call["attempt"], "args": args}
        return {"answer": answer, "binding": bound}

    def disclosed(self, line):
        record = self.last
        same = record is not None and record["log"]["seq"] == line["seq"]
        c = next((one["c"] for one in record.get("commit", []) if one["n"] == line["n"]), None) if same else None
        try:
            message = b"spanseal/commit/v1\0" + line["n"].encode() + b"\0" + unbase64(line["content"])
            found = base64.b64encode(hmac.digest(bytes.fromhex(line["salt"]), message, "sha256")).decode()
        except Refused:
            found = None
        if c is None or found != c:
            self.add("content.mismatch")

    def finish(self):
        if any(not part["closed"] for part in self.parts.values()):
            self.add("run.open", WARNING)
        if self.in_scope == 0:
            self.add("run.chain")
        for size, _, outside in self.waiting:
            if size <= self.next:
                self.add("anchor.fork" if outside else "checkpoint.root")
            else:
                self.add("anchor.rollback" if outside else "checkpoint.beyond_log")
        if self.trust["genesis"] and self.genesis not in self.trust["genesis"]:
            self.add("genesis.mismatch")
        if self.trust["logs"] and self.covered is None:
            self.add("checkpoint.none")


# Section 7: the bundle

HEX64, HASH = {"type": "string", "pattern": "^[0-9a-f]{64}$"}, {"type": "string", "pattern": "^[A-Za-z0-9+/]{43}=$"}
POSITION, TEXT, ID = {"type": "integer", "minimum": 0}, {"type": "string"}, {"type": "string", "pattern": "^[0-9a-f]{32}$"}


def closed(**members):
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


LINES = {
    "bundle": closed(
        kind=TEXT,
        v={"const": 1},
        scope=closed(run=ID, part={"anyOf": [POSITION, {"type": "null"}]}),
        log=ID,
        size=POSITION,
    ),
    "note": closed(kind=TEXT, note=TEXT),
    "rec": closed(
        kind=TEXT,
        seq=POSITION,
        dsse=closed(
            payload=TEXT,
            payloadType={"const": RECORD_TYPE},
            signatures={
                "type": "array",
                "maxItems": 1,
                "items": closed(keyid={"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}, sig=TEXT),
            },
        ),
    ),
    "open": closed(kind=TEXT, seq=POSITION, n=TEXT, salt=HEX64, content=TEXT),
    "node": closed(kind=TEXT, l={"type": "integer", "minimum": 0, "maximum": 52}, i=POSITION, h=HASH),
    "end": closed(kind=TEXT, lines=POSITION, sha256=HEX64),
}


def read_all(path):
    with open(path, "rb") as file:
        data = file.read(MAX_ALL + 1)
    if data[:2] == b"\x1f\x8b":
        data = zlib.decompressobj(31).decompress(data, MAX_ALL + 1)
    return data


def verify_bundle(data, trust, schema, seen):
    verifier = Verifier(trust, schema, seen)
    if len(data) > MAX_ALL:
        verifier.add("bundle.limit")
        data = data[:MAX_ALL]
    head, notes, begun, ended = None, [], False, False
    count, digest, at = 0, hashlib.sha256(), 0
    while at < len(data):
        stop = data.find(b"\n", at)
        if (len(data) if stop < 0 else stop) - at > MAX_LINE:
            verifier.add("bundle.limit")
            break
        if stop < 0:
            verifier.add("bundle.end")
            break
        raw = data[at:stop]
        at = stop + 1
        try:
            line = strict_json(raw)
        except Refused:
            line = None
        kind = line.get("kind") if isinstance(line, dict) else None
        if head is None and (kind != "bundle" or not fits(LINES["bundle"], line)):
            return unusable()
        if kind == "policy":
            return unusable()
        if ended:
            verifier.add("bundle.end")
        good = kind in LINES and fits(LINES[kind], line) and (kind != "rec" or len(line["dsse"]["signatures"]) == 1)
        if kind == "end" and good:
            ended = True
            if line["lines"] != count or line["sha256"] != digest.hexdigest():
                verifier.add("bundle.end")
        count += 1
        digest.update(raw + b"\n")
        if not good or (kind == "bundle" and head is not None) or (kind == "note" and begun):
            verifier.add("bundle.line")
        elif kind == "bundle":
            head = line
        elif kind == "note":
            notes.append(line["note"])
        elif kind == "rec":
            try:
                record = unbase64(line["dsse"]["payload"])
                signature = unbase64(line["dsse"]["signatures"][0]["sig"])
            except Refused:
                verifier.add("bundle.line")
                continue
            if not begun:
                begun = True
                verifier.begin(record, notes)
                if verifier.opened and verifier.log_id != head["log"]:
                    verifier.add("log.id_mismatch")
            if line["seq"] != verifier.next:
                verifier.add("bundle.position")
            verifier.record(record, line["dsse"]["signatures"][0]["keyid"], signature, head["scope"])
        elif kind == "open":
            verifier.disclosed(line)
        elif kind == "node":
            start, end = line["i"] << line["l"], (line["i"] + 1) << line["l"]
            if not begun or start != verifier.next or end > head["size"]:
                verifier.add("bundle.position")
            else:
                verifier.grow(unbase64(line["h"]), line["l"])
    if not begun:
        return unusable()
    if not ended:
        verifier.add("bundle.end")
    if verifier.next != head["size"]:
        verifier.add("bundle.position")
    verifier.finish()
    return answer(verifier, trust)


def unusable():
    return {"status": "unusable", "exit": 2, "codes": []}


def answer(verifier, trust):
    severities = set(verifier.codes.values())
    if BROKEN in severities:
        status, code = "broken", 1
    else:
        status = "intact" if trust["genesis"] and trust["logs"] else "self_consistent"
        code = 3 if NOT_OBEYED in severities else 0
    return {"status": status, "exit": code, "codes": sorted(verifier.codes)}


def verify_records(path, schema):
    """Each line: a record in its envelope with the leaf it must have. The first one declares the key."""
    keys, checked = {}, 0
    for text in open(path, "rb"):
        line = strict_json(text.rstrip(b"\n"))
        record = unbase64(line["payload"])
        value = strict_json(record)
        if value["type"] == "log.opened":
            keys = {key["kid"]: key_of_spki(unbase64(key["spki"])) for key in value["body"]["keys"]}
        good = (
            canonical(value) == record
            and fits(schema, value)
            and base64.b64encode(leaf_of(record)).decode() == line["leaf"]
            and verify_record(keys[line["keyid"]], record, unbase64(line["sig"]))
        )
        if not good:
            raise Refused(f"record {value['log']['seq']} of type {value['type']}")
        checked += 1
    return {"records": checked}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bundle", nargs="?")
    parser.add_argument("--records")
    parser.add_argument("--trust")
    parser.add_argument("--checkpoint")
    parser.add_argument("--schema", required=True)
    args = parser.parse_args()
    schema = json.load(open(args.schema, encoding="utf-8"))
    if args.records:
        result = verify_records(args.records, schema)
    else:
        trust = read_trust(open(args.trust, encoding="utf-8").read() if args.trust else "")
        seen = [open(args.checkpoint, encoding="utf-8").read()] if args.checkpoint else []
        result = verify_bundle(read_all(args.bundle), trust, schema, seen)
    json.dump(result, sys.stdout)
    print()
    sys.exit(result.get("exit", 0))


if __name__ == "__main__":
    main()
