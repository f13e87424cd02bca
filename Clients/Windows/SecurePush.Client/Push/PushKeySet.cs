using System;
using System.Collections.Generic;
using System.Linq;

namespace SecurePush
{
    /// <summary>
    /// The public keys that verify pushes: the Ed25519 keys of a JWK Set (RFC 7517, RFC 8037), as
    /// <c>securepush keys generate --push</c> writes it and <c>GET /api/push-keys</c> returns it.
    /// </summary>
    public sealed class PushKeySet
    {
        /// <summary>The longest JWK Set, in bytes.</summary>
        public const int MaxBytes = 64 << 10;

        /// <summary>How many keys are used. More are skipped.</summary>
        public const int MaxKeys = 32;

        private readonly byte[][] keys;

        private PushKeySet(IEnumerable<byte[]> keys)
        {
            this.keys = keys.ToArray();
        }

        /// <summary>The keys, 32 bytes each.</summary>
        public IReadOnlyList<byte[]> Keys => keys;

        /// <summary>Reads a JWK Set. Keys of other kinds are skipped.</summary>
        /// <exception cref="FormatException">
        /// It is longer than <see cref="MaxBytes"/>, is not JSON, has no Ed25519 key, or has a private key: nobody may
        /// publish that, so the set is not trusted.
        /// </exception>
        public static PushKeySet FromJwkSet(byte[] jwkSet)
        {
            if (jwkSet == null || jwkSet.Length > MaxBytes)
            {
                throw new FormatException("The JWK Set is too long.");
            }

            try
            {
                var found = new List<byte[]>();
                foreach (var element in JsonValue.Parse(jwkSet).Members()["keys"].Elements(int.MaxValue))
                {
                    var members = element.Members();

                    // Only private and symmetric keys have these (RFC 7518, section 6).
                    if (members.ContainsKey("d") || members.ContainsKey("k"))
                    {
                        throw new FormatException("The JWK Set has a private key.");
                    }

                    var key = Key(members);
                    if (key != null && found.Count < MaxKeys)
                    {
                        found.Add(key);
                    }
                }

                return found.Count > 0 ? new PushKeySet(found) : throw new FormatException("There is no Ed25519 key.");
            }
            catch (KeyNotFoundException)
            {
                throw new FormatException("The JWK Set has no keys.");
            }
        }

        /// <summary>Makes a set of stored keys; <c>null</c> if there are none.</summary>
        internal static PushKeySet FromStored(IEnumerable<byte[]> keys)
        {
            var usable = keys.Where(key => key != null && key.Length == 32).Take(MaxKeys).ToArray();
            return usable.Length > 0 ? new PushKeySet(usable) : null;
        }

        private static byte[] Key(IReadOnlyDictionary<string, JsonValue> members)
        {
            if (Text(members, "kty") != "OKP" || Text(members, "crv") != "Ed25519")
            {
                return null;
            }

            var key = Base64Url.Decode(Text(members, "x"));
            return key != null && key.Length == 32 ? key : null;
        }

        private static string Text(IReadOnlyDictionary<string, JsonValue> members, string name) =>
            members.TryGetValue(name, out var value) && value.IsString ? value.Text() : null;
    }
}
