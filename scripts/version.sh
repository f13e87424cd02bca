#!/usr/bin/env bash
# Prints the version of everything that this checkout makes: scripts/version.sh. A tidy test compares every other place.
sed -nE 's/^ *package static let current = "(.+)"$/\1/p' "$(dirname "$0")/../Shared/ServiceRuntime/Main/SecurePushVersion.swift"
