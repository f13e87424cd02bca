using System;
using System.Collections.Generic;
using System.Linq;

namespace SecurePush
{
    /// <summary>One of the user's devices, as the server knows it. It does not tell the push channel.</summary>
    public sealed class UserDevice
    {
        /// <summary>The most that the server sends on a page.</summary>
        internal const int MaxPerPage = 100;

        private UserDevice(JsonMembers members, string ownId)
        {
            Id = members.Required("installationId").Text();
            Platform = members.Required("platform").Text();
            UpdatedAt = Answer.Time(members["UpdatedAt"]);
            LastSeenAt = Answer.Time(members["LastSeenAt"]);
            IsThisDevice = IsSame(Id, ownId);
            if (!IsId(Id))
            {
                throw JsonScanner.Malformed();
            }
        }

        /// <summary>The installation's ID, for <see cref="SecurePushClient.RemoveDeviceAsync"/>.</summary>
        public string Id { get; }

        /// <summary>The platform as the hub names it: <c>wns</c>, <c>apns</c>, <c>fcmv1</c>, <c>browser</c>.</summary>
        public string Platform { get; }

        /// <summary>When the registration changed; <c>null</c> if the server does not say.</summary>
        public DateTimeOffset? UpdatedAt { get; }

        /// <summary>
        /// The day (midnight in UTC) on which the device last registered; <c>null</c> if the server does not say.
        /// </summary>
        public DateTimeOffset? LastSeenAt { get; }

        /// <summary>Whether it is the one on which this runs.</summary>
        public bool IsThisDevice { get; }

        /// <summary>Whether two IDs are the same. The server compares them without regard to case.</summary>
        internal static bool IsSame(string id, string other) =>
            string.Equals(id, other, StringComparison.OrdinalIgnoreCase);

        /// <summary>Whether a text is the ID of an installation (contract, section J).</summary>
        internal static bool IsId(string text) =>
            !string.IsNullOrEmpty(text) && text.Length <= 128 && text.Any(character => character != '.')
            && text.All(character => (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z')
                || (character >= '0' && character <= '9') || character == '-' || character == '_' || character == '.');

        /// <summary>Reads a page of <c>GET /api/installations</c>, and tells whether there is another one.</summary>
        /// <param name="body">The answer.</param>
        /// <param name="ownId">The installation of this device.</param>
        /// <param name="devices">Gets the devices of the page.</param>
        /// <exception cref="SecurePushException">It is malformed.</exception>
        internal static bool ReadPage(byte[] body, string ownId, List<UserDevice> devices) =>
            Answer.Read(body, members =>
            {
                var page = members.Required("Installations").Elements(MaxPerPage)
                    .Select(element => new UserDevice(element.Members(), ownId)).ToList();
                devices.AddRange(page);
                return page.Count > 0 && members.ContainsKey("Next");
            });
    }
}
