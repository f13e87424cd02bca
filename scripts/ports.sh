# shellcheck shell=bash
# Sourced by the other scripts: free loopback ports.

# Whether nothing listens on a port of 127.0.0.1.
port_is_free() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# A port from which COUNT ports in a row are free; below those that systems give out by themselves.
free_ports() {
    local count=$1 port offset
    for _ in $(seq 1 200); do
        port=$((20000 + RANDOM % 12000))
        for ((offset = 0; offset < count; offset++)); do
            port_is_free $((port + offset)) || continue 2
        done
        echo "$port"
        return
    done
    echo "no free ports were found" >&2
    return 69
}

# The port that is wanted, or another when something listens there already.
port_or_free() { if port_is_free "$1"; then echo "$1"; else free_ports 1; fi; }
