using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Text;

namespace SecurePush
{
    /// <summary>
    /// The keys of this device for end-to-end encryption: the one that senders use, and former ones for what was sealed
    /// before they were replaced. It does not change, and does not show in <see cref="ToString"/>.
    /// </summary>
    internal sealed class EncryptionKeys
    {
        /// <summary>One a month for 90 days; more come only from a clock that jumps.</summary>
        private const int MaxKeys = 8;

        /// <summary>When a key is replaced, in seconds: 30 days.</summary>
        private const double ReplacedAfter = 30 * 86400;

        /// <summary>How long a former key is kept after that, in seconds: 90 days.</summary>
        private const double KeptFor = 90 * 86400;

        private readonly Entry[] entries;

        private EncryptionKeys(IEnumerable<Entry> entries)
        {
            this.entries = entries.ToArray();
        }

        /// <summary>The keys, newest first.</summary>
        public IReadOnlyList<EncryptionKeyPair> Pairs => entries.Select(entry => entry.Pair).ToArray();

        /// <summary>The one that senders use.</summary>
        public EncryptionKeyPair Newest => entries[0].Pair;

        /// <summary>The first key of a device.</summary>
        public static EncryptionKeys Of(EncryptionKeyPair pair, double now) =>
            new EncryptionKeys(new[] { new Entry { Pair = pair, MadeAt = now } });

        /// <summary>Reads what <see cref="Encode"/> has made; <c>null</c> if it is anything else.</summary>
        public static EncryptionKeys Decode(byte[] stored)
        {
            try
            {
                var entries = stored == null
                    ? new Entry[0]
                    : JsonValue.Parse(stored).Elements(MaxKeys).Select(element => Entry.Parse(element.Text()))
                        .ToArray();
                return entries.Length > 0 ? new EncryptionKeys(entries) : null;
            }
            catch (FormatException)
            {
                return null;
            }
        }

        /// <summary>The keys as JSON text in UTF-8, for the store, which encrypts it.</summary>
        public byte[] Encode()
        {
            var json = new StringBuilder();
            JsonText.Append(json, entries.Select(entry => entry.ToString()));
            return Encoding.UTF8.GetBytes(json.ToString());
        }

        /// <summary>Whether a new key is due. A clock that went back tells nothing of the age.</summary>
        public bool IsOld(double now) => now - entries[0].MadeAt >= ReplacedAfter;

        /// <summary>The keys with a new one in front, without those that have been kept for long enough.</summary>
        /// <param name="pair">The new key.</param>
        /// <param name="now">Seconds since 1970.</param>
        /// <param name="removed">Gets the private keys that are not kept.</param>
        public EncryptionKeys With(EncryptionKeyPair pair, double now, List<byte[]> removed)
        {
            var former = new[] { new Entry { Pair = entries[0].Pair, MadeAt = entries[0].MadeAt, ReplacedAt = now } }
                .Concat(entries.Skip(1)).ToList();
            var kept = former.Where(entry => now - entry.ReplacedAt <= KeptFor).Take(MaxKeys - 1).ToList();
            removed.AddRange(former.Except(kept).Select(entry => entry.Pair.PrivateKey));
            return new EncryptionKeys(new[] { new Entry { Pair = pair, MadeAt = now } }.Concat(kept));
        }

        /// <inheritdoc/>
        public override string ToString() => "encryption keys";

        private sealed class Entry
        {
            public EncryptionKeyPair Pair { get; set; }

            /// <summary>In seconds since 1970.</summary>
            public double MadeAt { get; set; }

            /// <summary>In seconds since 1970; that of the newest key means nothing.</summary>
            public double ReplacedAt { get; set; }

            public static Entry Parse(string line)
            {
                var words = line.Split(' ');
                if (words.Length != 4 || !double.TryParse(
                        words[2], NumberStyles.Float, CultureInfo.InvariantCulture, out var madeAt)
                    || !double.TryParse(words[3], NumberStyles.Float, CultureInfo.InvariantCulture, out var replacedAt))
                {
                    throw JsonScanner.Malformed();
                }

                byte[] privateKey = Base64Url.Decode(words[0], 2048), publicKey = Base64Url.Decode(words[1]);
                return privateKey?.Length > 0 && publicKey?.Length == 65
                    ? new Entry
                    {
                        Pair = new EncryptionKeyPair(privateKey, publicKey), MadeAt = madeAt, ReplacedAt = replacedAt,
                    }
                    : throw JsonScanner.Malformed();
            }

            public override string ToString() => string.Join(
                " ", Base64Url.Encode(Pair.PrivateKey), Base64Url.Encode(Pair.PublicKey), Number(MadeAt),
                Number(ReplacedAt));

            private static string Number(double value) => value.ToString("R", CultureInfo.InvariantCulture);
        }
    }
}
