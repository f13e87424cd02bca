"""What all parts cost from the POST at ingest to the push at the push service: with hub, and with a stand-in for a hub.

The notifications are posted as fast as ingest takes them, and the time ends with the last push.
"""

import base64
import hashlib
import json
import os
import subprocess
import time

import bench as servers

API_KEY = "benchmark-key"


def measure_variant(bench, platform, variant):
    fake, place = bench.start_fake(platform)
    if variant == "hub":
        hub, url = bench.start_hub(platform, place)
        bench.seed(platform, url)
        stats = f"{bench.service}/stats"
    else:
        number = servers.port()
        hub = bench.start("stub", [bench.program("fake"), "-kind", "hub", "-listen", f"127.0.0.1:{number}"])
        url = f"http://127.0.0.1:{number}/bench"
        stats = f"http://127.0.0.1:{number}/stats"
    settings = services(bench, platform, url)
    processes = {"hub or stub": hub.pid, "push service": fake.pid}
    for name in ("ingest", "dispatcher"):
        number = servers.port()
        process = bench.start(
            name, [bench.options.securepush, "serve", name], HTTP_HOST="127.0.0.1", HTTP_PORT=str(number), **settings)
        processes[name] = process.pid
        servers.wait_for(f"http://127.0.0.1:{number}/readyz")
        if name == "ingest":
            address = f"http://127.0.0.1:{number}/api/notifications"
    processes |= {"PostgreSQL": bench.postmaster, "RabbitMQ": bench.rabbitmq}
    figures = [round_of(bench, processes, address, stats) for _ in range(bench.options.rounds + 1)][1:]
    for process in reversed(bench.processes):
        if process.process.poll() is None:
            process.stop()
    middle = sorted(figures, key=lambda figure: figure["rate"])[len(figures) // 2]
    print(f"{platform} with {variant}: {json.dumps(middle)}", flush=True)
    return middle


def measure_chain(bench, platform):
    start_rabbitmq(bench)
    results = {variant: measure_variant(bench, platform, variant) for variant in ("stub", "hub")}
    names = list(results["hub"]["cpu"])
    print(f"\n| CPU seconds per 10,000 ({platform}) | pushes/s | {' | '.join(names)} | sum |")
    print("| --- |" + " --- |" * (len(names) + 2))
    for variant, result in results.items():
        cells = " | ".join(f"{result['cpu'][name]:.2f}" for name in names)
        print(f"| {variant} | {result['rate']:,} | {cells} | {sum(result['cpu'].values()):.2f} |")


def start_rabbitmq(bench):
    if bench.rabbitmq_folder:
        return
    bench.rabbitmq_folder = os.path.join(bench.folder, "rabbitmq")
    number = servers.port()
    # The port of Erlang's distribution follows.
    servers.PORTS.update((number + 1, number + 2))
    subprocess.run(
        [f"{servers.ROOT}/scripts/rabbitmq.sh", "start", bench.rabbitmq_folder, str(number)], check=True,
        stdout=subprocess.DEVNULL)
    bench.amqp = f"amqp://guest:guest@127.0.0.1:{number}/%2F"
    bench.rabbitmq = int(open(os.path.join(bench.rabbitmq_folder, "pid")).read())


def services(bench, platform, url):
    """The settings of ingest and dispatcher."""
    keys = {
        "payload-keys": f"benchmark {base64.b64encode(os.urandom(32)).decode()}\n",
        "api-keys": f"benchmark {hashlib.sha256(API_KEY.encode()).hexdigest()}\n"}
    for name, text in keys.items():
        path = os.path.join(bench.folder, name)
        if not os.path.exists(path):
            with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
                file.write(text)
    origin, name = url.rsplit("/", 1)
    return {
        "DATABASE_URL": bench.database, "AMQP_URL": bench.amqp, "LOG_LEVEL": "warning", "HUB_NAME": name,
        "PAYLOAD_KEYS_FILE": f"{bench.folder}/payload-keys", "INGEST_API_KEYS_FILE": f"{bench.folder}/api-keys",
        "HUB_CONNECTION_STRING": f"Endpoint={origin}/;SharedAccessKeyName=all;SharedAccessKey={servers.KEY}",
        "HUB_PLATFORMS": platform}


def round_of(bench, processes, address, stats):
    environment = dict(os.environ, INGEST_AUTHORIZATION=f"Bearer {API_KEY}", USERS=str(bench.options.users))
    before = {name: servers.cpu(pid) for name, pid in processes.items()}
    pushed = bench.pushes(stats)
    start = time.time()
    output = subprocess.run(
        ["wrk", "-t", "1", "-c", str(bench.options.connections), "-d", f"{bench.options.seconds}s",
         "-s", f"{servers.HERE}/notifications.lua", address], env=environment, capture_output=True, text=True,
        check=True).stdout
    count = int(next(line.split()[1] for line in output.splitlines() if line.startswith("ACCEPTED")))
    # wrk drops the answers to its last requests, whose notifications are pushed as well.
    end, last = time.time() + 120, -1
    while time.time() < end:
        now = bench.pushes(stats) - pushed
        if now >= count and now == last:
            break
        last = now
        time.sleep(0.5)
    taken = time.time() - start - 0.5
    if last < count:
        raise SystemExit(f"{last} of {count} notifications were pushed.")
    cpu = {name: round((servers.cpu(pid) - before[name]) / last * 1e4, 2) for name, pid in processes.items()}
    return {"rate": round(last / taken), "cpu": cpu, "posted": count}
