extension APIDescription {
    /// Every part whose removal an exchange should bring to light: statuses, media types and headers of answers,
    /// parameters' and members' schemas.
    package var removableParts: [[String]] {
        var parts: [[String]] = []
        for operation in operations {
            for (status, response) in self[operation]["responses"]?.members ?? [:]
            where !Self.ofEveryOperation.contains(status) {
                parts.append(operation.location + ["responses", status])
                if response["$ref"] == nil { parts += partsOfResponse(operation.location + ["responses", status]) }
            }
        }
        for name in (root.at(["components", "responses"])?.members ?? [:]).keys {
            parts += partsOfResponse(["components", "responses", name])
        }
        for name in (root.at(["components", "schemas"])?.members ?? [:]).keys {
            parts += partsOfSchema(["components", "schemas", name])
        }
        return parts.sorted { $0.joined(separator: "/") < $1.joined(separator: "/") }
    }

    /// The parts that could be removed without any of the exchanges differing from the document.
    package func unnoticedRemovals(_ exchanges: [APIExchange]) -> [String] {
        removableParts.filter { part in
            let changed = APIDescription(root.removing(part))
            return exchanges.allSatisfy { changed.issues(of: $0).isEmpty }
        }.map { $0.joined(separator: "/") }
    }

    private func partsOfResponse(_ location: [String]) -> [[String]] {
        ["headers", "content"].flatMap { kind in
            (root.at(location + [kind])?.members ?? [:]).keys.map { location + [kind, $0] }
        }
    }

    private func partsOfSchema(_ location: [String]) -> [[String]] {
        (root.at(location + ["properties"])?.members ?? [:]).flatMap { name, _ in
            [location + ["properties", name]] + partsOfSchema(location + ["properties", name])
        }
    }
}
