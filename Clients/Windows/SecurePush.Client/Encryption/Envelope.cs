using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;

namespace SecurePush
{
    /// <summary>
    /// A payload that only the recipient's devices can read (contract, section F). <c>Clients/vectors/README.md</c>
    /// describes every byte.
    /// </summary>
    internal static class Envelope
    {
        /// <summary>The longest answer of the server, in characters.</summary>
        private const int MaxLength = 2 << 20;

        /// <summary>The most devices of one envelope.</summary>
        private const int MaxDevices = 1000;

        private static readonly byte[] Info = Encoding.ASCII.GetBytes("securepush-e2e-v1");

        /// <summary>
        /// Whether a payload is meant to be an envelope, also if it is malformed: the user never sees what is
        /// encrypted.
        /// </summary>
        public static bool IsEnvelope(string json)
        {
            try
            {
                var value = JsonValue.Parse(Encoding.UTF8.GetBytes(json));
                if (!value.IsObject)
                {
                    return false;
                }

                var names = new HashSet<string>(value.AllMembers().Select(member => member.Key));
                return names.Contains("e2e") && names.Contains("ct");
            }
            catch (FormatException)
            {
                return false;
            }
        }

        /// <summary>Decrypts a payload.</summary>
        /// <param name="cryptography">The algorithms.</param>
        /// <param name="json">The JSON text of the payload.</param>
        /// <param name="recipient">The user of this device.</param>
        /// <param name="device">The installation's ID; <c>null</c> if there is none.</param>
        /// <param name="privateKey">The device's key; <c>null</c> if it has none.</param>
        /// <returns>The content: JSON text of the sender.</returns>
        /// <exception cref="SecurePushException">With <c>SP-KEY</c> or <c>SP-DECRYPT</c>.</exception>
        public static byte[] Open(
            IClientCryptography cryptography, string json, string recipient, string device, byte[] privateKey)
        {
            var members = Parsed(json);
            var iv = Bytes(members, "iv", 12);
            var ct = Base64Url.Decode(Text(members, "ct"), MaxLength);
            var keys = Keys(members);
            if (ct == null || ct.Length < 16)
            {
                throw Unopenable();
            }

            if (device == null || privateKey == null || !keys.TryGetValue(device, out var entry))
            {
                throw new SecurePushException(DiagnosticCode.NoKey);
            }

            var sealedKey = entry.Members();
            var aad = Encoding.UTF8.GetBytes(recipient ?? "");
            var contentKey = new Hpke(cryptography).Open(
                privateKey, Bytes(sealedKey, "enc", 32), Info, aad, Bytes(sealedKey, "ct", 48));
            var content = contentKey == null ? null : cryptography.OpenAesGcm(contentKey, iv, ct, aad);
            return content ?? throw Unopenable();
        }

        /// <summary>The text to show for a content.</summary>
        /// <exception cref="SecurePushException">The content is not JSON: <c>SP-DECRYPT</c>.</exception>
        public static SecretNotification Secret(SecretNotification envelope, byte[] content)
        {
            try
            {
                var value = JsonValue.Parse(content);
                var json = value.Json();
                return new SecretNotification(
                    envelope.Id, value.IsString ? value.Text() : json, json, envelope.WasRead);
            }
            catch (FormatException)
            {
                throw Unopenable();
            }
        }

        private static IReadOnlyDictionary<string, JsonValue> Parsed(string json)
        {
            if (json.Length > MaxLength)
            {
                throw Unopenable();
            }

            try
            {
                var members = JsonValue.Parse(Encoding.UTF8.GetBytes(json)).Members();
                return members.TryGetValue("e2e", out var version) && version.Json() == "1"
                    ? members
                    : throw Unopenable();
            }
            catch (FormatException)
            {
                throw Unopenable();
            }
        }

        private static IReadOnlyDictionary<string, JsonValue> Keys(IReadOnlyDictionary<string, JsonValue> members)
        {
            if (!members.TryGetValue("keys", out var value) || !value.IsObject)
            {
                throw Unopenable();
            }

            try
            {
                var keys = value.Members();
                foreach (var entry in keys.Values)
                {
                    // An entry of another device must have the right types too, as in the other SDKs.
                    Text(entry.IsObject ? entry.Members() : throw Unopenable(), "enc");
                    Text(entry.Members(), "ct");
                }

                return keys.Count <= MaxDevices ? keys : throw Unopenable();
            }
            catch (FormatException)
            {
                throw Unopenable();
            }
        }

        private static string Text(IReadOnlyDictionary<string, JsonValue> members, string name)
        {
            try
            {
                return members.TryGetValue(name, out var value) && value.IsString ? value.Text() : throw Unopenable();
            }
            catch (FormatException)
            {
                throw Unopenable();
            }
        }

        private static byte[] Bytes(IReadOnlyDictionary<string, JsonValue> members, string name, int length)
        {
            var bytes = Base64Url.Decode(Text(members, name));
            return bytes != null && bytes.Length == length ? bytes : throw Unopenable();
        }

        private static SecurePushException Unopenable() => new SecurePushException(DiagnosticCode.Unopenable);
    }
}
