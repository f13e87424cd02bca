using System;

namespace SecurePush
{
    /// <summary>
    /// A log-out that is not finished: what this device has to forget, and what the server has to be told when it can
    /// be reached. It is stored with the credentials, in one step that ends them. Once made, it does not change.
    /// </summary>
    internal sealed class Departure
    {
        /// <summary>The tokens of the session are kept for so long, in seconds: 24 hours.</summary>
        private const double TokensFor = 86400;

        /// <summary>
        /// The installation's ID is kept for so long, in seconds: 30 days, after which its channel has ended.
        /// </summary>
        private const double KeptFor = 30 * 86400;

        /// <summary>What identifies it.</summary>
        public string Id { get; private set; } = Guid.NewGuid().ToString("N");

        /// <summary>When the user logged out, in seconds since 1970.</summary>
        public double At { get; set; }

        /// <summary>The retrieval service.</summary>
        public string Url { get; set; }

        /// <summary>The user who has logged out.</summary>
        public string UserName { get; set; }

        /// <summary>The installation to remove; <c>null</c> if there is none any more.</summary>
        public string InstallationId { get; set; }

        /// <summary>A token for that request; <c>null</c> if there is none.</summary>
        public string AccessToken { get; set; }

        /// <summary>The refresh token of the session to end; <c>null</c> if it goes on or has ended.</summary>
        public string RefreshToken { get; set; }

        /// <summary>Whether the device has not yet forgotten what belongs to the user.</summary>
        public bool IsForgetting { get; set; }

        /// <summary>Whether nothing is left to do.</summary>
        public bool IsDone => !IsForgetting && InstallationId == null && RefreshToken == null;

        /// <summary>The same departure, changed.</summary>
        public Departure Changed(Action<Departure> change)
        {
            var copy = (Departure)MemberwiseClone();
            change(copy);
            return copy;
        }

        /// <summary>A stored departure.</summary>
        public static Departure Restored(string id) => new Departure { Id = id };

        /// <summary>
        /// What may still be kept of it. A clock that has gone back says nothing of the age: it counts as old.
        /// </summary>
        public Departure Aged(double now)
        {
            var age = now - At;
            if (age >= 0 && age < TokensFor)
            {
                return this;
            }

            return Changed(copy =>
            {
                copy.AccessToken = null;
                copy.RefreshToken = null;
                copy.InstallationId = age >= 0 && age < KeptFor ? InstallationId : null;
            });
        }
    }
}
