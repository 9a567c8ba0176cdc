"""A first trade in plain Python: register, prove a wallet, prepare an order, verify it, sign it, trade.

Written from what the service serves alone: /llms.txt, /docs/signing and /openapi.json. It needs Python 3.9, python3-ecdsa and
python3-pycryptodome. The key is made here, never leaves this process and is never printed.

    npm start                                   in one terminal
    python3 examples/python/first_trade.py      in another; BELLWETHER_URL names another service, BELLWETHER_MARKET a market
"""
import json
import os
import sys
import time
import urllib.error
import urllib.request
from decimal import ROUND_FLOOR, Decimal
from hashlib import sha256

import ecdsa

try:  # As Debian packages it; from PyPI it is Crypto.
    from Cryptodome.Hash import keccak as keccak_module
except ImportError:
    from Crypto.Hash import keccak as keccak_module

BASE_URL = os.environ.get("BELLWETHER_URL", "http://localhost:8080").rstrip("/")
SPEND = Decimal("20")

# Pinned here, from /docs/signing: what the service answers is compared with it, never taken from it.
CHAIN_ID = 137
DOMAIN_NAME = "Polymarket CTF Exchange"
CONTRACTS = {  # of version 2, by neg-risk
    False: "0xe111180000d2663c0091e4f400237545b87b996b",
    True: "0xe2222d279d744050d28e00520010520000310f59",
}
CONTRACT_V3 = "0xe3333700ca9d93003f00f0f71f8515005f6c00aa"  # of every market of version v2
DOMAIN_FIELDS = [("string", "name"), ("string", "version"), ("uint256", "chainId"), ("address", "verifyingContract")]
ORDER_FIELDS = [
    ("uint256", "salt"), ("address", "maker"), ("address", "signer"), ("address", "taker"), ("uint256", "tokenId"),
    ("uint256", "makerAmount"), ("uint256", "takerAmount"), ("uint256", "expiration"), ("uint256", "nonce"),
    ("uint256", "feeRateBps"), ("uint8", "side"), ("uint8", "signatureType"),
]
V3_ORDER_FIELDS = [
    *ORDER_FIELDS[:3], *ORDER_FIELDS[4:7], *ORDER_FIELDS[10:],
    ("uint256", "timestamp"), ("bytes32", "metadata"), ("bytes32", "builder"),
]
MICRO = 1_000_000


class Refused(Exception):
    """The service refused; it says why and what to do next."""


class DoNotSign(Exception):
    """The prepared order is not the one that was asked for."""


def call(method, path, body=None, key=None):
    headers = {"accept": "application/json"}
    if body is not None:
        headers["content-type"] = "application/json"
    if key is not None:
        headers["authorization"] = "Bearer " + key
    data = None if body is None else json.dumps(body, default=float).encode()
    request = urllib.request.Request(BASE_URL + path, data=data, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=15) as answer:
            return json.loads(answer.read(), parse_float=Decimal)
    except urllib.error.HTTPError as error:
        problem = json.loads(error.read())
        raise Refused(f"{method} {path}: {problem['code']}: {problem['detail']} {problem.get('fix', '')}") from None


# ── Hashes and signatures ───────────────────────────────────────────────────────────────────────────────────────

def keccak(data):
    return keccak_module.new(digest_bits=256, data=data).digest()


def word(kind, value):
    """A value as EIP-712 encodes it: 32 bytes."""
    if kind == "string":
        return keccak(value.encode())
    number = int(value, 16) if kind in ("address", "bytes32") else int(value)
    return number.to_bytes(32, "big")


def struct_hash(name, fields, values):
    type_text = f"{name}({','.join(f'{kind} {field}' for kind, field in fields)})"
    return keccak(keccak(type_text.encode()) + b"".join(word(kind, values[field]) for kind, field in fields))


def order_digest(domain, order):
    fields = V3_ORDER_FIELDS if domain["version"] == "3" else ORDER_FIELDS
    return keccak(b"\x19\x01" + struct_hash("EIP712Domain", DOMAIN_FIELDS, domain) + struct_hash("Order", fields, order))


class Wallet:
    def __init__(self, private_key=None):
        curve = ecdsa.SECP256k1
        self._key = ecdsa.SigningKey.generate(curve) if private_key is None else ecdsa.SigningKey.from_string(private_key, curve)
        self.address = "0x" + keccak(self._key.verifying_key.to_string())[-20:].hex()

    def sign_digest(self, digest):
        """65 bytes: r, s in the lower half, and v."""
        n, g = ecdsa.SECP256k1.order, ecdsa.SECP256k1.generator
        r, s = self._key.sign_digest_deterministic(digest, hashfunc=sha256, sigencode=lambda r, s, _order: (r, s))
        s = min(s, n - s)
        point = g * ((int.from_bytes(digest, "big") + r * self._key.privkey.secret_multiplier) * pow(s, -1, n) % n)
        return "0x" + (r.to_bytes(32, "big") + s.to_bytes(32, "big") + bytes([27 + point.y() % 2])).hex()

    def sign_text(self, text):
        """EIP-191 personal_sign."""
        body = text.encode()
        return self.sign_digest(keccak(b"\x19Ethereum Signed Message:\n" + str(len(body)).encode() + body))


# ── The order: computed here, compared with what was prepared ───────────────────────────────────────────────────

def salt_of(agent_id, client_order_id):
    text = "\n".join(["bellwether order salt v1", agent_id, client_order_id])
    return int.from_bytes(keccak(text.encode())[:8], "big") >> 11


def is_position(token):
    """Whether a token is of version v2: its id has a module of 1 or 2 on top, and zeros in the middle. Others are hashes."""
    number = int(token)
    return number >> 248 in (1, 2) and (number >> 24) % (1 << 80) == 0 and number % 256 < 2


def expected_order(intent, agent_id, wallet, market):
    """Of a market BUY by an EOA: every field that the answer must have. The token alone says for which contract it is."""
    price = int(Decimal(str(intent["worstPrice"])) * 10_000)
    spend = int((Decimal(str(intent["amount"])) * 100).to_integral_value(ROUND_FLOOR)) * 10_000
    shares = spend * 10_000 // price // 100 * 100
    # YES and NO are the sides; what the venue calls them is the desk's word, and it has to say the same as before.
    side = 0 if intent["outcome"] == "YES" else 1
    token, outcome_name = market["clobTokenIds"][side], (market["outcomes"] + [None, None])[side]
    zero = "0x" + "0" * 40
    order = {
        "salt": salt_of(agent_id, intent["clientOrderId"]), "maker": wallet.address, "signer": wallet.address,
        "taker": zero, "tokenId": token, "makerAmount": str(spend), "takerAmount": str(shares), "side": "BUY",
        "expiration": "0", "nonce": "0", "feeRateBps": "0", "signatureType": 0,
    }
    is_v2 = is_position(token)
    if market.get("version", "v1") != ("v2" if is_v2 else "v1"):
        raise DoNotSign(f"the market says version {market.get('version')!r}, and its token is of another one.")
    if is_v2:
        order.update({"timestamp": str(intent["timestamp"]), "metadata": "0x" + "0" * 64, "builder": "0x" + "0" * 64})
    contract, version = (CONTRACT_V3, "3") if is_v2 else (CONTRACTS[market["negRisk"]], "2")
    fields = V3_ORDER_FIELDS if is_v2 else ORDER_FIELDS
    domain = {"name": DOMAIN_NAME, "version": version, "chainId": CHAIN_ID, "verifyingContract": contract}
    values = {**order, "salt": str(order["salt"]), "side": 0}
    message = {name: values[name] for _, name in fields}
    digest = order_digest(domain, message)

    def typed(fields):
        return [{"name": name, "type": kind} for kind, name in fields]

    limit = Decimal(price) / 10_000
    cut = Decimal(str(intent["amount"])) - Decimal(spend) / MICRO
    return digest, {
        "clientOrderId": intent["clientOrderId"], "agentId": agent_id, "venue": market["venue"],
        "marketId": market["id"], "marketConditionId": market["conditionId"], "tokenId": token,
        "outcome": intent["outcome"], "outcomeName": outcome_name, "side": "BUY", "orderVersion": 2, "orderProfile": "interface",
        "exchangeVersion": 3 if is_v2 else "missing", "verifyingContract": contract, "negRisk": market["negRisk"], "tickSize": market["tickSize"],
        "maker": wallet.address, "signer": wallet.address, "eoa": wallet.address, "signatureType": 0,
        "orderId": "0x" + digest.hex(), "digest": "0x" + digest.hex(), "signatureSuffix": None,
        "typedData": {
            "domain": domain, "primaryType": "Order", "message": message,
            "types": {"EIP712Domain": typed(DOMAIN_FIELDS), "Order": typed(fields)},
        },
        "amounts": {
            "makerAmount": str(spend), "takerAmount": str(shares), "shares": Decimal(shares) / MICRO,
            "collateral": Decimal(spend) / MICRO, "limit": limit, **({"cut": cut} if cut else {}),
        },
        "body": {
            "venue": market["venue"], "marketConditionId": market["conditionId"], "marketQuestion": market["question"][:250],
            "outcome": intent["outcome"], "orderSize": Decimal(shares) / MICRO, "price": limit, "isLimitOrder": False,
            "orderType": "FAK", "postOnly": False, "deferExec": False, "expirationTime": 0, "orderVersion": 2,
            "tickSize": market["tickSize"], "negRisk": market["negRisk"], "clientOrderId": intent["clientOrderId"],
            "source": intent["source"], "order": order,
        },
    }


def require_same(path, expected, received):
    if isinstance(expected, dict) and isinstance(received, dict):
        for name in expected.keys() | received.keys():
            require_same(f"{path}.{name}", expected.get(name, "missing"), received.get(name, "missing"))
    elif isinstance(expected, list) and isinstance(received, list) and len(expected) == len(received):
        for index, pair in enumerate(zip(expected, received)):
            require_same(f"{path}[{index}]", *pair)
    elif expected != received or isinstance(expected, bool) != isinstance(received, bool):
        raise DoNotSign(f"{path} is {received!r}, and the intent makes it {expected!r}.")


def verify_prepared(prepared, intent, agent_id, wallet, market):
    """@returns the digest to sign and the body to post, both computed here"""
    digest, expected = expected_order(intent, agent_id, wallet, market)
    for name, value in expected.items():
        require_same(name, value, prepared.get(name, "missing"))
    return digest, expected["body"]


# ── The five minutes ────────────────────────────────────────────────────────────────────────────────────────────

def check_own_code(orders):
    """Reproduces a worked example of the service: where this fails, nothing else can work."""
    wallet = Wallet(bytes.fromhex(orders["exampleKey"][2:]))
    for name in ("Version 2", "ExchangeV3 (market of version v2)"):
        example = next(one for one in orders["examples"] if one["name"] == name)
        digest = order_digest(example["typedData"]["domain"], example["typedData"]["message"])
        if "0x" + digest.hex() != example["digest"] or wallet.sign_digest(digest) != example["signature"]:
            raise DoNotSign(f"the worked example {name!r} of the service has another digest or signature here.")


def find_market(call_):
    if "BELLWETHER_MARKET" in os.environ:
        return call_("GET", "/markets/" + os.environ["BELLWETHER_MARKET"])
    for word_ in ("will", "the", "win", "price", "be"):
        for market in call_("GET", f"/markets?q={word_}&order=liquidity&limit=50"):
            if market["active"] and Decimal("0.1") <= Decimal(market["bestBid"]) < Decimal(market["bestAsk"]) <= Decimal("0.9"):
                return market
    raise Refused("no open market with a book was found")


def main():
    agent = call("POST", "/agents/register", {"name": "First trade in Python"})
    key, agent_id = agent["apiKeyCode"], agent["agentId"]

    def call_(method, path, body=None):
        return call(method, path, body, key)

    venue = next(one for one in call("GET", "/venues") if "signedOrders" in one["capabilities"])
    if venue["backend"] != "paper":
        raise DoNotSign(f"{venue['name']} is {venue['backend']}: this example trades no real money.")
    check_own_code(call("GET", f"/venues/{venue['name']}/signing")["orders"])

    wallet = Wallet()
    challenge = call_("GET", f"/wallet/credentials/challenge?address={wallet.address}")
    call_("POST", "/wallet/credentials/paper", {
        "address": wallet.address, "nonce": challenge["nonce"], "signature": wallet.sign_text(challenge["message"]),
    })
    print(f"wallet {wallet.address} of agent {agent_id}")

    market = find_market(call_)
    tick = Decimal(market["tickSize"])
    worst = min(Decimal(market["bestAsk"]) + 5 * tick, 1 - tick)
    intent = {
        "clientOrderId": "first-trade", "marketId": market["id"], "outcome": "YES", "side": "BUY",
        "worstPrice": worst, "amount": SPEND, "source": "python:first-trade",
    }
    if market.get("version") == "v2":
        intent["timestamp"] = int(time.time() * 1000)  # signed: a retry sends the same one
    prepared = call_("POST", "/markets/trade/prepare", intent)
    failed = [one["message"] for one in prepared["checks"] if not one["passed"]]
    if failed:
        raise Refused("; ".join(failed))
    digest, body = verify_prepared(prepared, intent, agent_id, wallet, market)
    print(f"verified order {prepared['orderId']}: {prepared['fill']['shares']} YES expected, fee {prepared['fill']['fee']}")

    body["order"]["signature"] = wallet.sign_digest(digest)
    checked = call_("POST", "/markets/trade", {**body, "validateOnly": True})
    trade = call_("POST", "/markets/trade", body)
    again = call_("POST", "/markets/trade", body)
    if not (trade["success"] and trade["orderId"] == checked["orderId"] == again["orderId"] == "0x" + digest.hex()):
        raise Refused(f"{trade.get('errorCode')}: {trade.get('errorMessage')}")
    print(f"bought {trade['filledSize']} YES at {trade['avgPrice']}, fee {trade['feePaid']}")
    positions = call_("GET", "/markets/current-positions")
    print(f"position {positions[0]['size']} {positions[0]['outcome']}: {market['question']}")


if __name__ == "__main__":
    try:
        main()
    except (Refused, DoNotSign) as error:
        sys.exit(f"{type(error).__name__}: {error}")
