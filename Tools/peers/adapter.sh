#!/bin/bash
# SecurePush in the peers' yardstick (shared/bench, its README): adapter.sh build | start_ingest | start_dispatcher N |
# start_retrieval | stop. Run it as
#   QUEUE_TYPE=quorum bench.sh 3 go=…/go/adapter.sh \
#     "securepush=…/adapter.sh,QUEUE=securepush.dispatch,QUEUE_DECLARED=1,INGEST_AUTHORIZATION=Bearer benchmark-key"
# The release build is measured, payloads are sealed, the queue is the quorum queue of the contract.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
bin=${SECUREPUSH_BIN:-$root/.build/release}
seed=${BENCHMARK_SEED:-$root/.build/release/benchmark-seed}

build() {
  local product
  for product in ingest dispatcher retrieval; do
    (cd "$root" && swift build -c release --static-swift-stdlib --product "$product") || return 1
  done
  (cd "$root" && make tools CONFIGURATION=release)
}

# Everything below needs the driver's helpers and its settings.
if [ -n "${PEERS:-}" ]; then . "$PEERS/lib.sh"; fi

settings() {
  local dir=$RUN_DIR/securepush
  mkdir -p "$dir"
  if [ ! -f "$dir/payload-keys" ]; then
    printf 'benchmark %s\n' "$(head -c 32 /dev/urandom | base64)" >"$dir/payload-keys"
    printf 'benchmark %s\n' "$(printf 'benchmark-key' | sha256sum | cut -d' ' -f1)" >"$dir/api-keys"
    printf '{"keys":[{"kty":"oct","alg":"HS256","k":"%s"}]}\n' \
      "$(printf '%s' "$JWT_SECRET" | base64 -w0 | tr '+/' '-_' | tr -d '=')" >"$dir/jwks.json"
    chmod 600 "$dir"/*
  fi
  local hub=${HUB_URL#http://}
  export LOG_LEVEL=warning LOG_FORMAT=json DATABASE_URL AMQP_URL
  export PAYLOAD_KEYS_FILE=$dir/payload-keys INGEST_API_KEYS_FILE=$dir/api-keys AUTH_JWKS_FILE=$dir/jwks.json
  export HUB_NAME=${hub#*/}
  export HUB_CONNECTION_STRING="Endpoint=http://${hub%%/*}/;SharedAccessKeyName=$HUB_KEY_NAME;SharedAccessKey=$HUB_KEY"
}

start_ingest() { settings; HTTP_PORT=$INGEST_PORT spawn ingest "$bin/ingest"; }
start_dispatcher() { settings; for _ in $(seq 1 "${1:-1}"); do HTTP_PORT=0 spawn dispatcher "$bin/dispatcher"; done; }
start_retrieval() { settings; HTTP_PORT=$RETRIEVAL_PORT spawn retrieval "$bin/retrieval"; }

# The driver stops everything before each round and looks at the queue next: so the queue is declared here.
stop() {
  stop_all
  settings
  "$seed" topology
}

# Called by bench.env: rows of sealed payloads for user0 … user999 in turn.
seed() { settings; "$seed" rows "$1"; }

"$@"
