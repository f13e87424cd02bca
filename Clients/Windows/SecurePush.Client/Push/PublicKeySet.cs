using System;
using System.Collections.Generic;
using System.Linq;
using System.Security.Cryptography;
using System.Text;

namespace SecurePush
{
    /// <summary>
    /// Public keys that verify signatures: the P-256 keys of a JWK Set (RFC 7517; RFC 7518, section 6.2), as
    /// <c>securepush keys generate --push</c> writes it and <c>GET /api/push-keys</c> returns it.
    /// </summary>
    public sealed class PublicKeySet
    {
        /// <summary>The longest JWK Set, in bytes.</summary>
        public const int MaxBytes = 64 << 10;

        /// <summary>How many keys are used. More are skipped.</summary>
        public const int MaxKeys = 32;

        private readonly PublicKey[] keys;

        private PublicKeySet(IEnumerable<PublicKey> keys)
        {
            this.keys = keys.ToArray();
        }

        /// <summary>The keys.</summary>
        internal IReadOnlyList<PublicKey> Keys => keys;

        /// <summary>Reads a JWK Set. Keys of other kinds are skipped.</summary>
        /// <exception cref="FormatException">
        /// It is longer than <see cref="MaxBytes"/>, is not JSON, has no P-256 key, or has a private key: nobody may
        /// publish that, so the set is not trusted.
        /// </exception>
        public static PublicKeySet FromJwkSet(byte[] jwkSet)
        {
            if (jwkSet == null || jwkSet.Length > MaxBytes)
            {
                throw new FormatException("The JWK Set is too long.");
            }

            var found = new List<PublicKey>();
            foreach (var element in JsonValue.Parse(jwkSet, true).Members().Required("keys").Elements(int.MaxValue))
            {
                var key = element.IsObject ? element.Members() : new JsonMembers();

                // Only private and symmetric keys have these (RFC 7518, section 6).
                if (key.ContainsKey("d") || key.ContainsKey("k"))
                {
                    throw new FormatException("The JWK Set has a private key.");
                }

                var read = PublicKey.FromJwk(key);
                if (read != null)
                {
                    found.Add(read);
                }
            }

            return found.Count > 0 ? new PublicKeySet(found) : throw new FormatException("There is no P-256 key.");
        }

        /// <summary>Makes a set of stored keys; <c>null</c> if there are none.</summary>
        internal static PublicKeySet FromStored(IEnumerable<byte[]> points)
        {
            var usable = points.Where(point => point != null && point.Length == 65).Take(MaxKeys)
                .Select(point => new PublicKey(point)).ToArray();
            return usable.Length > 0 ? new PublicKeySet(usable) : null;
        }

        /// <summary>The first keys that are points of the curve; <c>null</c> if none is.</summary>
        internal PublicKeySet OnCurve(IClientCryptography cryptography)
        {
            var points = keys.Where(key => cryptography.IsPublicKey(key.Point)).Take(MaxKeys).ToArray();
            return points.Length > 0 ? new PublicKeySet(points) : null;
        }
    }

    /// <summary>A public key with P-256.</summary>
    internal sealed class PublicKey
    {
        private const int MaxIdBytes = 128;

        public PublicKey(byte[] point, string id = null)
        {
            Point = point;
            Id = id ?? Base64Url.Encode(Thumbprint(point));
        }

        /// <summary>The uncompressed point, 65 bytes.</summary>
        public byte[] Point { get; }

        /// <summary>The <c>kid</c>, or the thumbprint (RFC 7638).</summary>
        public string Id { get; }

        /// <summary>Reads a key; <c>null</c> if it is of another kind, or not canonical.</summary>
        public static PublicKey FromJwk(JsonMembers members)
        {
            if (Text(members, "kty") != "EC" || Text(members, "crv") != "P-256")
            {
                return null;
            }

            byte[] x = Base64Url.Decode(Text(members, "x")), y = Base64Url.Decode(Text(members, "y"));
            var id = Text(members, "kid");
            var hasUsableId = !members.ContainsKey("kid")
                || (id?.Length > 0 && Encoding.UTF8.GetByteCount(id) <= MaxIdBytes);
            return x?.Length == 32 && y?.Length == 32 && hasUsableId
                ? new PublicKey(new byte[] { 4 }.Concat(x).Concat(y).ToArray(), id)
                : null;
        }

        /// <summary>The members of the JWK of a point, in the order of RFC 7638.</summary>
        public static byte[] Jwk(byte[] point) => new JsonWriter()
            .Text("crv", "P-256").Text("kty", "EC")
            .Text("x", Base64Url.Encode(point.Skip(1).Take(32).ToArray()))
            .Text("y", Base64Url.Encode(point.Skip(33).ToArray())).Bytes();

        /// <summary>
        /// What two people compare: the first 16 bytes of the thumbprint, as 8 groups of 4 hexadecimal digits.
        /// </summary>
        public static string Fingerprint(byte[] point)
        {
            var digits = string.Concat(Thumbprint(point).Take(16).Select(value => value.ToString("x2")));
            return string.Join(" ", Enumerable.Range(0, 8).Select(group => digits.Substring(group * 4, 4)));
        }

        private static byte[] Thumbprint(byte[] point)
        {
            using (var hash = SHA256.Create())
            {
                return hash.ComputeHash(Jwk(point));
            }
        }

        private static string Text(JsonMembers members, string name) =>
            members[name]?.IsString == true ? members[name].Text() : null;
    }
}
