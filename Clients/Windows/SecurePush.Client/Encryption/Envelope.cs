using System;
using System.Collections.Generic;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>
    /// A payload that only the recipient's devices can read (contract, section F).
    /// <c>docs/reference/e2e-envelope.md</c> describes every byte.
    /// </summary>
    internal sealed class Envelope
    {
        /// <summary>The longest answer of the server, in characters.</summary>
        private const int MaxLength = 2 << 20;
        private const int MaxDevices = 100;
        private const int MaxSenderBytes = 128;
        private const string Version = "securepush-e2e-v2";
        private static readonly byte[] Info = Encoding.ASCII.GetBytes(Version);

        private readonly Dictionary<string, SealedKey> keys = new Dictionary<string, SealedKey>(StringComparer.Ordinal);
        private readonly byte[] iv;
        private readonly byte[] text;
        private readonly byte[] digest;
        private readonly string sender;
        private readonly byte[] signature;

        /// <summary>Reads an envelope, without opening it.</summary>
        /// <exception cref="SecurePushException">With <c>SP-DECRYPT</c>: it is malformed.</exception>
        public Envelope(JsonValue payload)
        {
            var members = payload.Members();
            Require(members["e2e"].Json() == "2");
            iv = Bytes(members, "iv", 12);
            text = Base64Url.Decode(Text(members, "ct"), MaxLength);
            Require(text?.Length >= 16 && members["keys"]?.IsObject == true);
            foreach (var entry in members["keys"].Members())
            {
                Require(UserDevice.IsId(entry.Key) && entry.Value.IsObject && keys.Count < MaxDevices);
                var parts = entry.Value.Members();
                var key = new SealedKey { Enc = Bytes(parts, "enc", 65), Text = Bytes(parts, "ct", 48) };
                Require(key.Enc[0] == 4);
                keys.Add(entry.Key, key);
            }

            Require(keys.Count > 0 && members.ContainsKey("from") == members.ContainsKey("sig"));
            if (members.ContainsKey("from"))
            {
                sender = Text(members, "from");
                signature = Bytes(members, "sig", 64);
                Require(sender.Length > 0 && Encoding.UTF8.GetByteCount(sender) <= MaxSenderBytes);
            }

            using (var hash = SHA256.Create())
            {
                digest = hash.ComputeHash(Hpke.Join(iv, text));
            }
        }

        /// <summary>Reads a payload strictly, whether it is encrypted or not.</summary>
        /// <exception cref="SecurePushException">With <c>SP-DECRYPT</c>: it is malformed.</exception>
        public static JsonValue Read(string json)
        {
            try
            {
                return JsonValue.Parse(Encoding.UTF8.GetBytes(json), true);
            }
            catch (FormatException)
            {
                throw Unopenable();
            }
        }

        /// <summary>
        /// Whether a payload is meant to be an envelope, also if it is malformed: the user never sees what is
        /// encrypted.
        /// </summary>
        public static bool IsEnvelope(JsonValue payload) =>
            payload.IsObject && payload.Members().ContainsKey("e2e");

        /// <summary>Whether one of these senders has signed it for this recipient.</summary>
        public bool IsSignedBy(PublicKeySet senders, string recipient, IClientCryptography cryptography)
        {
            var hex = string.Concat(digest.Select(value => value.ToString("x2")));
            var signed = Encoding.UTF8.GetBytes(Version + "\n" + recipient + "\n" + hex + "\n");
            return sender != null && senders != null && senders.Keys.Any(
                key => key.Id == sender && cryptography.Verify(key.Point, signed, signature));
        }

        /// <summary>Whether it has an entry for a device.</summary>
        public bool IsFor(string device) => device != null && keys.ContainsKey(device);

        /// <summary>Decrypts it.</summary>
        /// <param name="recipient">The user of this device.</param>
        /// <param name="device">The installation's ID, which has an entry.</param>
        /// <param name="privateKeys">The device's keys, newest first.</param>
        /// <param name="cryptography">The algorithms.</param>
        /// <exception cref="SecurePushException">With <c>SP-DECRYPT</c>.</exception>
        /// <exception cref="Exception">A key cannot be used now, and the others do not open it.</exception>
        public async Task<EnvelopeContent> OpenAsync(
            string recipient, string device, IEnumerable<EncryptionKeyPair> privateKeys,
            IClientCryptography cryptography)
        {
            var name = Encoding.UTF8.GetBytes(recipient ?? "");
            var aad = Hpke.Join(name, new byte[1], digest);
            var entry = keys[device];
            var hpke = new Hpke(cryptography);
            Exception problem = null;
            foreach (var key in privateKeys)
            {
                byte[] contentKey = null;
                try
                {
                    contentKey = await hpke.OpenAsync(key, entry.Enc, Info, aad, entry.Text);
                }
                catch (Exception error)
                {
                    // Another key may fit.
                    problem = error;
                }

                if (contentKey != null)
                {
                    var content = cryptography.OpenAesGcm(contentKey, iv, text, name);
                    return content == null ? throw Unopenable() : EnvelopeContent.Parse(content);
                }
            }

            throw problem ?? Unopenable();
        }

        internal static SecurePushException Unopenable() => new SecurePushException(DiagnosticCode.Unopenable);

        private static string Text(JsonMembers members, string name) =>
            members[name]?.IsString == true ? members[name].Text() : throw Unopenable();

        private static byte[] Bytes(JsonMembers members, string name, int length)
        {
            var bytes = Base64Url.Decode(Text(members, name));
            return bytes?.Length == length ? bytes : throw Unopenable();
        }

        private static void Require(bool condition)
        {
            if (!condition)
            {
                throw Unopenable();
            }
        }

        /// <summary>The content key, sealed for one device.</summary>
        private struct SealedKey
        {
            public byte[] Enc { get; set; }

            public byte[] Text { get; set; }
        }
    }
}
