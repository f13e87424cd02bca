#!/usr/bin/env python3
"""Prints a software bill of materials as SPDX 2.3 in JSON: sbom.py VERSION REVISION CREATED RESOLVED [DPKG_STATUS]

RESOLVED is SwiftPM's Package.resolved, the Swift packages inside the executable; DPKG_STATUS is dpkg's status file, the
Debian packages beside them. The image has the result in /usr/share/securepush/sbom.spdx.json. Equal input gives equal
output.
"""

import hashlib
import json
import re
import sys


def swift_packages(path):
    with open(path, encoding="utf-8") as file:
        pins = json.load(file)["pins"]
    for pin in sorted(pins, key=lambda pin: pin["identity"]):
        state = pin["state"]
        version = state.get("version") or state["revision"]
        location = re.sub(r"^https://|\.git$", "", pin["location"])
        yield {
            "name": pin["identity"],
            "versionInfo": version,
            "downloadLocation": f"git+{pin['location']}@{state['revision']}",
            "purl": f"pkg:swift/{location}@{version}",
        }


def debian_packages(path):
    with open(path, encoding="utf-8") as file:
        paragraphs = file.read().split("\n\n")
    for paragraph in paragraphs:
        fields = dict(re.findall(r"^([A-Za-z-]+): (.*)$", paragraph, re.M))
        if fields.get("Status", "").endswith(" installed"):
            name, version, architecture = (fields[key] for key in ("Package", "Version", "Architecture"))
            yield {
                "name": name,
                "versionInfo": version,
                "downloadLocation": "NOASSERTION",
                "purl": f"pkg:deb/debian/{name}@{version.replace('+', '%2B')}?arch={architecture}",
            }


def package(number, entry):
    return {
        "SPDXID": f"SPDXRef-Package-{number}",
        "name": entry["name"],
        "versionInfo": entry["versionInfo"],
        "downloadLocation": entry["downloadLocation"],
        "filesAnalyzed": False,
        "licenseConcluded": entry.get("license", "NOASSERTION"),
        "licenseDeclared": entry.get("license", "NOASSERTION"),
        "copyrightText": "NOASSERTION",
        "externalRefs": [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": entry["purl"]}
        ],
    }


def main():
    version, revision, created, resolved = sys.argv[1:5]
    own = {
        "name": "securepush",
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "license": "Apache-2.0",
        "purl": f"pkg:generic/securepush@{version}?vcs_revision={revision}",
    }
    entries = [own, *swift_packages(resolved)]
    if len(sys.argv) > 5:
        entries += debian_packages(sys.argv[5])
    packages = [package(number, entry) for number, entry in enumerate(entries)]
    digest = hashlib.sha256(json.dumps([packages, revision]).encode()).hexdigest()
    json.dump(
        {
            "spdxVersion": "SPDX-2.3",
            "dataLicense": "CC0-1.0",
            "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"securepush-{version}",
            "documentNamespace": f"urn:securepush:sbom:{digest}",
            "creationInfo": {
                "created": created if created != "unknown" else "1970-01-01T00:00:00Z",
                "creators": ["Tool: securepush-sbom"],
            },
            "packages": packages,
            "relationships": [
                {
                    "spdxElementId": "SPDXRef-DOCUMENT",
                    "relationshipType": "DESCRIBES",
                    "relatedSpdxElement": "SPDXRef-Package-0",
                },
                *(
                    {
                        "spdxElementId": "SPDXRef-Package-0",
                        "relationshipType": "DEPENDS_ON",
                        "relatedSpdxElement": other["SPDXID"],
                    }
                    for other in packages[1:]
                ),
            ],
        },
        sys.stdout,
        indent=2,
    )
    print()


main()
