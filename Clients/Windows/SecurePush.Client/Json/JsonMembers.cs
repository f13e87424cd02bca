using System;
using System.Collections.Generic;

namespace SecurePush
{
    /// <summary>The members of a JSON object.</summary>
    internal sealed class JsonMembers : Dictionary<string, JsonValue>
    {
        public JsonMembers()
            : base(StringComparer.Ordinal)
        {
        }

        /// <summary>A member; <c>null</c> if it is not there.</summary>
        public new JsonValue this[string name] => TryGetValue(name, out var value) ? value : null;

        /// <summary>A member that must be there.</summary>
        /// <exception cref="FormatException">It is not there.</exception>
        public JsonValue Required(string name) => this[name] ?? throw JsonScanner.Malformed();
    }
}
