#!/usr/bin/env python3
"""The files of deploy/ are read by the tools that will read them, as far as they are installed, and name what there is: options
of the program, paths of the image, components that are configured. What is skipped is listed at the end."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    print("skipped: python3-yaml is missing")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DEPLOY, VIRIDIAN = ROOT / "deploy", sys.argv[1]
failures, skipped = [], []
HOST_FOLDERS = {"/proc": "/host/proc", "/sys/class": "/host/sys/class", "/sys/devices": "/host/sys/devices",
                "/sys/fs/cgroup": "/host/sys/fs/cgroup"}


def check(condition, what):
    if not condition:
        failures.append(what)


def run(what, *command, **options):
    """Runs a tool; its output if it is installed and content, else None."""
    if not shutil.which(command[0]):
        skipped.append(f"{what} ({command[0]} is not installed)")
        return None
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, **options)
    check(done.returncode == 0, f"{what}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout if done.returncode == 0 else None


def check_call(words, where):
    """The words are a call of `viridian serve` with options that there are."""
    told = subprocess.run([VIRIDIAN, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    check(words[0] == "serve", f"{where} calls {words[0]}")
    for word in words[1:]:
        check(not word.startswith("-") or re.search(rf"^  {word}\s", told, re.M), f"{where}: `viridian serve` has no {word}")
    return dict(zip(words, words[1:]))


def check_systemd():
    unit = (DEPLOY / "systemd/viridian.service").read_text()
    call = re.search(r"^ExecStart=/usr/bin/viridian (.*)$", unit, re.M)[1].split()
    options = check_call(call, "the unit")
    check(options["--listen"].startswith("unix:/run/viridian/") and "RuntimeDirectory=viridian" in unit, "the unit's socket")
    check(options["--token-file"].startswith("/var/lib/viridian/") and "StateDirectory=viridian" in unit, "the unit's token")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "viridian.service")
        path.write_text(unit.replace("/usr/bin/viridian ", f"{VIRIDIAN} "))
        run("systemd-analyze verify", "systemd-analyze", "verify", str(path))
        run("systemd-analyze security", "systemd-analyze", "security", "--offline=yes", "--threshold=25", str(path))


def check_daemonset(spec, where):
    pod = spec["spec"]["template"]["spec"]
    container, = pod["containers"]
    options = check_call(container["args"], where)
    volumes = {one["name"]: one for one in pod["volumes"]}
    mounts = {one["name"]: one for one in container["volumeMounts"]}
    check(set(volumes) == set(mounts), f"{where}: volumes and mounts")
    folders = {volumes[name]["hostPath"]["path"]: mounts[name]["mountPath"] for name in volumes if "hostPath" in volumes[name]}
    check(HOST_FOLDERS.items() <= folders.items(), f"{where}: the node's folders are {folders}")
    check(all(mounts[name].get("readOnly") for name in mounts if name != "socket"), f"{where}: all but the socket is read-only")
    check({"name": "VIRIDIAN_ROOT", "value": "/host"} in container["env"], f"{where}: VIRIDIAN_ROOT")
    check(pathlib.PurePath(options["--token-file"]).parent == pathlib.PurePath(mounts["token"]["mountPath"]), f"{where}: token")
    check(volumes["token"]["secret"]["defaultMode"] == 0o400, f"{where}: only root reads the token")
    port, = container["ports"]
    check(options["--metrics"].endswith(f":{port['containerPort']}"), f"{where}: the port")
    check(container["livenessProbe"]["httpGet"]["path"] == "/healthz", f"{where}: liveness")
    check(container["readinessProbe"]["httpGet"]["path"] == "/readyz", f"{where}: readiness")
    security = container["securityContext"]
    check(security["capabilities"] == {"drop": ["ALL"]} and not security["allowPrivilegeEscalation"]
          and security["readOnlyRootFilesystem"], f"{where}: its rights")


def check_kubernetes():
    check_daemonset(yaml.safe_load((DEPLOY / "kubernetes/base/daemonset.yaml").read_text()), "daemonset.yaml")
    tool = ("kustomize", "build") if shutil.which("kustomize") else ("kubectl", "kustomize")
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder, "kubernetes")
        shutil.copytree(DEPLOY / "kubernetes", copy)
        (copy / "base/token").write_text("ab" * 32 + "\n")
        for variant in ("base", "nvidia", "prometheus-operator"):
            text = run(f"kustomize {variant}", *tool, str(copy / variant))
            if text is None:
                continue
            found = {one["kind"]: one for one in yaml.safe_load_all(text)}
            check_daemonset(found["DaemonSet"], f"kustomize {variant}")
            pod = found["DaemonSet"]["spec"]["template"]
            secret = next(one for one in pod["spec"]["volumes"] if one["name"] == "token")["secret"]["secretName"]
            check(secret == found["Secret"]["metadata"]["name"], f"kustomize {variant}: the secret's name")
            check(found["Service"]["spec"]["selector"].items() <= pod["metadata"]["labels"].items(), f"kustomize {variant}: service")
            check(("runtimeClassName" in pod["spec"]) == (variant == "nvidia"), f"kustomize {variant}: runtime class")
            if monitor := found.get("ServiceMonitor"):
                check(monitor["spec"]["selector"]["matchLabels"].items() <= found["Service"]["metadata"]["labels"].items() and
                      monitor["spec"]["endpoints"][0]["authorization"]["credentials"]["name"] == secret, "ServiceMonitor")


def check_container():
    text = (DEPLOY / "container/Containerfile").read_text()
    entry = re.search(r"^ENTRYPOINT (.*)$", text, re.M)[1]
    bundle = (ROOT / "tools/bundle").read_text()
    for part in ("lib/loader", "bin/viridian"):
        check(f"/opt/viridian/{part}" in entry and f"$stage/{part}" in bundle, f"the image starts {part} of the bundle")
    check_call(yaml.safe_load(re.search(r"^CMD (.*)$", text, re.M)[1]), "the image")
    check("ENV VIRIDIAN_ROOT=/host" in text, "the image looks below /host")
    run("Containerfile", "hadolint", str(DEPLOY / "container/Containerfile"))


def check_compose():
    text = (DEPLOY / "compose/compose.yaml").read_text()
    services = yaml.safe_load(text)["services"]
    mounted = dict(one.split(":")[:2] for one in services["viridian"]["volumes"])
    check(HOST_FOLDERS.items() <= mounted.items(), f"compose mounts {mounted}")
    check(all(one.endswith(":ro") for one in services["viridian"]["volumes"]), "compose mounts read-only")
    for name, service in services.items():
        for one in service.get("volumes", []):
            source = one.split(":")[0]
            if source.startswith(".") and not source.endswith("/token"):
                check((DEPLOY / "compose" / source).is_file(), f"compose: {name} mounts {source}, which is not there")
        build = service.get("build")
        if build:
            check((DEPLOY / "compose" / build["context"] / build["dockerfile"]).is_file(), f"compose: {name}'s file")
    has = shutil.which("docker") and subprocess.run(["docker", "compose", "version"], capture_output=True).returncode == 0
    if has:
        run("docker compose", "docker", "compose", "-f", str(DEPLOY / "compose/compose.yaml"), "config", "--quiet")
    else:
        skipped.append("docker compose config (docker compose is not installed)")


def check_prometheus():
    config = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    for name in config["rule_files"]:
        rules = yaml.safe_load((DEPLOY / "prometheus" / name).read_text())
        for rule in rules["groups"][0]["rules"]:
            check({"expr"} < set(rule) and ("record" in rule) != ("alert" in rule), f"a rule of {name}: {rule}")
            check("record" in rule or "summary" in rule["annotations"], f"an alert without a summary: {rule}")
        run("promtool check rules", "promtool", "check", "rules", str(DEPLOY / "prometheus" / name))
    run("promtool check config", "promtool", "check", "config", "--syntax-only", str(DEPLOY / "prometheus/prometheus.yml"))


def check_collector():
    config = yaml.safe_load((DEPLOY / "opentelemetry/collector.yaml").read_text())
    used = set()
    for name, pipeline in config["service"]["pipelines"].items():
        for kind in ("receivers", "processors", "exporters"):
            for one in pipeline[kind]:
                used.add((kind, one))
                check(one in config[kind], f"the collector's {name} wants {one}, which is not configured")
    configured = {(kind, one) for kind in ("receivers", "processors", "exporters") for one in config[kind]}
    check(used == configured, f"the collector has {configured - used}, which no pipeline uses")
    source = (ROOT / "viridian/serve/metrics.cpp").read_text()
    text = (DEPLOY / "opentelemetry/collector.yaml").read_text()
    check('"viridian_energy_joules_total"' in text and 'energy("viridian_energy", "joules"' in source, "the collector's metric")
    for label in re.findall(r'attributes\["(\w+)"\]', text):
        check(f'{{"{label}", ' in source, f"the collector uses the label {label}, which no metric has")
    run("otelcol validate", "otelcol-contrib", "validate", "--config", str(DEPLOY / "opentelemetry/collector.yaml"))


def main():
    for one in (check_systemd, check_kubernetes, check_container, check_compose, check_prometheus, check_collector):
        one()
    for path in sorted(DEPLOY.rglob("*.yaml")):
        check(list(yaml.safe_load_all(path.read_text())), f"{path} is empty")
    print(*(f"skipped: {one}" for one in skipped), *(f"FAILED: {one}" for one in failures), sep="\n")
    return 1 if failures else 0


sys.exit(main())
