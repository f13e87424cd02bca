using System.Collections.Generic;
using System.Linq;

namespace SecurePush
{
    /// <summary>A device as it is registered with the retrieval service.</summary>
    public sealed class PushDevice
    {
        /// <summary>Makes a device of Windows.</summary>
        /// <param name="channel">
        /// The URI of the push channel. Whoever knows it and the app's secret can send to the device: never log it.
        /// </param>
        /// <param name="tags">Tags of the app. The server adds the user's own.</param>
        public PushDevice(string channel, IEnumerable<string> tags = null)
        {
            Channel = channel;
            Tags = (tags ?? Enumerable.Empty<string>()).ToList();
        }

        /// <summary>The platform, as an installation of the hub names it.</summary>
        public string Platform => "wns";

        /// <summary>The URI of the push channel.</summary>
        public string Channel { get; }

        /// <summary>Tags of the app.</summary>
        public IReadOnlyList<string> Tags { get; }
    }

    /// <summary>The registration of this device, as far as the client remembers it. It does not change.</summary>
    internal sealed class RegistrationRecord
    {
        public RegistrationRecord(
            string installationId = null, string userName = null, string digest = null, double? registeredAt = null,
            string keyDigest = null)
        {
            InstallationId = installationId;
            UserName = userName;
            Digest = digest;
            RegisteredAt = registeredAt;
            KeyDigest = keyDigest;
        }

        /// <summary>The installation's ID, which the client chooses once.</summary>
        public string InstallationId { get; }

        /// <summary>The user for whom the device is registered; <c>null</c> if it is not.</summary>
        public string UserName { get; }

        /// <summary>A digest of the platform, the channel and the tags.</summary>
        public string Digest { get; }

        /// <summary>When it was registered, in seconds since 1970.</summary>
        public double? RegisteredAt { get; }

        /// <summary>A digest of the public key that the server has for end-to-end encryption.</summary>
        public string KeyDigest { get; }

        /// <summary>The same registration with another key.</summary>
        public RegistrationRecord WithKey(string keyDigest) =>
            new RegistrationRecord(InstallationId, UserName, Digest, RegisteredAt, keyDigest);
    }
}
