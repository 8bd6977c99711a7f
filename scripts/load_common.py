"""What scripts/load-serve.py and scripts/load-hostile share."""
import hashlib
import json
import re


def quantile(times, share):
    times = sorted(times)
    return times[min(len(times) - 1, int(share * len(times)))]


def run_id(bundle):
    return re.search(r'"id":"(\d{8}-\d{6}-[0-9a-f]{8})"', bundle).group(1)


def renamed(bundle, identifier):
    """The bundle as that of another run, with its checksum."""
    lines = bundle.replace(run_id(bundle), identifier).splitlines(keepends=True)
    end = json.loads(lines.pop())
    text = "".join(lines)
    end["end"]["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    return (text + json.dumps(end, separators=(",", ":")) + "\n").encode()
