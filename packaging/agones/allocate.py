# SPDX-License-Identifier: MIT
"""usage: python3 allocate.py --service URL --key FILE [--namespace NAME] [--room NAME] [--client-id N] [--out FILE]
                              [--certificate FILE --certificate-key FILE] [--authority FILE]

What a backend does when players want a match: asks the allocation service of Agones for a game server of the fleet
"cairn" that takes one more room and one more player, names a room there, and issues a connect token for it with
cairn-token. The first player that comes with such a token finds the room made. Prints where the match is, as {"server":
"192.0.2.1:7000", "name": "cairn-x2k4", "room": "match-8d2f1c90"}; further players get tokens for the same server and
room. Exit code 3: no game server is free."""

import argparse
import json
import secrets
import ssl
import subprocess
import sys
import urllib.error
import urllib.request

TIMEOUT_S = 10
NO_SERVER = 3


def request_for(namespace):
    """First a server that plays already, then one that is ready. cairnd itself keeps the counter and the list."""
    selector = {"matchLabels": {"agones.dev/fleet": "cairn"}, "counters": {"rooms": {"minAvailable": "1"}},
                "lists": {"players": {"minAvailable": "1"}}}
    return {"namespace": namespace, "scheduling": "Packed",
            "gameServerSelectors": [{**selector, "gameServerState": state} for state in ("ALLOCATED", "READY")]}


def ask(options):
    context = None
    if options.service.startswith("https:"):
        context = ssl.create_default_context(cafile=options.authority)
        if options.certificate:
            context.load_cert_chain(options.certificate, options.certificate_key)
    question = urllib.request.Request(options.service.rstrip("/") + "/gameserverallocation", method="POST",
                                      data=json.dumps(request_for(options.namespace)).encode(),
                                      headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(question, timeout=TIMEOUT_S, context=context) as answer:
        return json.load(answer)


def address_of(allocated):
    port = next(each["port"] for each in allocated["ports"] if each["name"] == "default")
    host = allocated["address"]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--service", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--namespace", default="default")
    parser.add_argument("--room", default=f"match-{secrets.token_hex(4)}", help="of the fleet's template (match)")
    parser.add_argument("--client-id", type=int, default=1)
    parser.add_argument("--out", default="token")
    parser.add_argument("--certificate")
    parser.add_argument("--certificate-key")
    parser.add_argument("--authority")
    parser.add_argument("--cairn-token", default="cairn-token")
    options = parser.parse_args()
    try:
        allocated = ask(options)
    except urllib.error.HTTPError as error:
        # 429: all are taken; the fleet grows, so ask again soon.
        print(f"allocate.py: {error.code}: {error.read().decode(errors='replace')}", file=sys.stderr)
        return NO_SERVER if error.code in (404, 429) else 1
    except OSError as error:
        print(f"allocate.py: {options.service}: {error}", file=sys.stderr)
        return 1
    server = address_of(allocated)
    subprocess.run([options.cairn_token, "issue", "--key", options.key, "--server", server, "--room", options.room,
                    "--client-id", str(options.client_id), "--out", options.out], check=True)
    print(json.dumps({"server": server, "name": allocated["gameServerName"], "room": options.room}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
