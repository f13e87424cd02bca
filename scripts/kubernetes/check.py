"""Renders and validates the chart of deploy/: see scripts/kubernetes-check.sh."""

import pathlib
import re
import subprocess
import sys

import jsonschema
import kubernetes_validate
import yaml

VERSIONS = ["1.30", "1.31", "1.32", "1.33", "1.34", "1.35", "1.36", "1.37"]
SERVICES = {"ingest", "dispatcher", "retrieval", "operator", "hub"}
BROKER_PORTS = {5671, 5672}

deploy, helm = pathlib.Path(sys.argv[1]), sys.argv[2]
failures = []


def fail(place, problem):
    failures.append(f"{place}: {problem}")


def render(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        fail(" ".join(command[1:3]), result.stderr.strip() or result.stdout.strip())
        return []
    return [document for document in yaml.safe_load_all(result.stdout) if document]


def name(thing):
    return f"{thing['kind']} {thing['metadata']['name']}"


def operator_schemas():
    """The kinds of the operators that the chart uses, by API version and kind."""
    folder = pathlib.Path(__file__).parent
    return {(s["apiVersion"], s["kind"]): s["schema"] for s in yaml.safe_load((folder / "operators.yaml").read_text())}


def closed(schema):
    """The schema, in which an object has no other members than those that are named."""
    if isinstance(schema, dict):
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
            schema.setdefault("type", "object")
        for value in schema.values():
            closed(value)
    return schema


OPERATORS = {key: closed(schema) for key, schema in operator_schemas().items()}


def validate(place, thing):
    """Returns the number of schemas that the object was compared with."""
    schema = OPERATORS.get((thing["apiVersion"], thing["kind"]))
    if schema:
        specification = {"properties": {**schema["properties"], "apiVersion": {}, "kind": {}, "metadata": {}}}
        for error in jsonschema.Draft7Validator(closed(specification)).iter_errors(thing):
            fail(place, f"{name(thing)}: {'/'.join(map(str, error.path))}: {error.message}")
        return 1
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(thing, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            fail(place, f"{name(thing)} in {version}: {'/'.join(map(str, error.path))}: {error.message}")
        except kubernetes_validate.SchemaNotFoundError as error:
            fail(place, f"{name(thing)} in {version}: {error}")
    return len(VERSIONS)


def check_pod(place, thing):
    """The pod security standard `restricted`, and what its checks leave open."""
    pod = thing["spec"]["template"]["spec"]
    security = pod.get("securityContext", {})
    wanted = {
        "runs as root": security.get("runAsNonRoot") is True and security.get("runAsUser", 0) > 0,
        "has no seccomp profile": security.get("seccompProfile") == {"type": "RuntimeDefault"},
        "has a token of the API": pod.get("automountServiceAccountToken") is False,
        "gets variables of other Services": pod.get("enableServiceLinks") is False,
        "takes a path of its node": not any("hostPath" in volume for volume in pod["volumes"]),
    }
    for container in pod["containers"]:
        own = container.get("securityContext", {})
        wanted |= {
            "may gain privileges": own.get("allowPrivilegeEscalation") is False,
            "has capabilities": own.get("capabilities") == {"drop": ["ALL"]},
            "may write to its image": own.get("readOnlyRootFilesystem") is True,
            "has no limit of memory": "memory" in container.get("resources", {}).get("limits", {}),
        }
        if thing["kind"] == "Deployment":
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                wanted[f"has no {probe}"] = probe in container
    for problem, good in wanted.items():
        if not good:
            fail(place, f"{name(thing)} {problem}")


def check_set(place, things):
    """What belongs together in one installation."""
    for thing in things:
        if thing["kind"] in ("Deployment", "Job"):
            check_pod(place, thing)
        if thing["kind"] == "Secret":
            fail(place, f"{name(thing)}: secrets are made by `securepush setup`, not by manifests")
        if thing["kind"] == "ServiceAccount" and thing.get("automountServiceAccountToken") is not False:
            fail(place, f"{name(thing)} hands out tokens")
    labels = lambda thing: thing["metadata"].get("labels", {}).get("app.kubernetes.io/component")
    for kind in ("Deployment", "Service", "ConfigMap", "ServiceAccount", "PodDisruptionBudget", "NetworkPolicy"):
        found = {labels(thing) for thing in things if thing["kind"] == kind}
        for service in SERVICES - found:
            fail(place, f"{service} has no {kind}")
    policies = [thing for thing in things if thing["kind"] == "NetworkPolicy"]
    if not any(p["spec"]["podSelector"] == {} and set(p["spec"]) == {"podSelector", "policyTypes"} for p in policies):
        fail(place, "no policy denies by default")
    for policy in policies:
        ports = {p["port"] for rule in policy["spec"].get("egress", []) for p in rule.get("ports", [])}
        if labels(policy) in {"retrieval", "hub"} and (not ports or ports & BROKER_PORTS):
            fail(place, f"{labels(policy)} reaches the broker, or anything")
    known = set(re.findall(r"^\| `([A-Z_]+)`", (deploy / "../docs/reference/configuration.md").read_text(), re.M))
    for thing in things:
        if thing["kind"] == "ConfigMap":
            for key in set(thing["data"]) - known:
                fail(place, f"{name(thing)}: {key} is no setting")


def main():
    chart = str(deploy / "helm/securepush")
    template = [helm, "template", "securepush", chart, "--namespace", "securepush"]
    sets = {
        "chart": render(*template),
        "chart with example-values.yaml": render(*template, "--values", str(deploy / "helm/example-values.yaml")),
    }
    lint = subprocess.run([helm, "lint", "--strict", chart], capture_output=True, text=True)
    if lint.returncode != 0:
        fail("helm lint", lint.stdout + lint.stderr)
    # Under another name and in another namespace, nothing may point to the names of the first.
    other = render(helm, "template", "other", chart, "--namespace", "elsewhere", "--values",
                   str(deploy / "helm/example-values.yaml"))
    for thing in other:
        text = yaml.safe_dump(thing)
        if re.search(r"name: securepush-|secretName: securepush-(?!tls$)", text, re.M) or "namespace: securepush" in text:
            fail("chart as `other`", f"{name(thing)} has a fixed name")

    comparisons = 0
    for place, things in sets.items():
        comparisons += sum(validate(place, thing) for thing in things)
        check_set(place, things)
    files = list((deploy / "helm").rglob("*.yaml"))
    for place, things in sets.items():
        print(f"{place}: {len(things)} objects")
    for failure in failures:
        print(f"FAILED: {failure}")
    print(f"{len(files)} files, {sum(map(len, sets.values()))} objects, {comparisons} validations against the schemas "
          f"of Kubernetes {VERSIONS[0]} to {VERSIONS[-1]} and the operators, {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
