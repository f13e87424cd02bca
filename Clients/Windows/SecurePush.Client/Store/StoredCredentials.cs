using System.Collections.Generic;
using System.Linq;

namespace SecurePush
{
    /// <summary>
    /// The credentials of the user who is logged in, and what is left to do for those who have logged out. Stores treat
    /// it as one value that can be coded, and encrypt it. It does not show in <see cref="ToString"/>.
    /// </summary>
    public sealed class StoredCredentials
    {
        /// <summary>Makes credentials.</summary>
        /// <param name="userName">The user; <c>null</c> if nobody is logged in.</param>
        public StoredCredentials(string userName)
        {
            UserName = userName;
        }

        /// <summary>The user; <c>null</c> if nobody is logged in.</summary>
        public string UserName { get; }

        /// <summary>
        /// The token for requests; <c>null</c> if there is none, or if the server has refused it.
        /// </summary>
        public string AccessToken { get; set; }

        /// <summary>When the token expires, in seconds since 1970; <c>null</c> if that is not known.</summary>
        public double? ExpiresAt { get; set; }

        /// <summary>The single-use token for the next access token.</summary>
        public string RefreshToken { get; set; }

        /// <summary>The password, only for a server that issues no tokens.</summary>
        public string Password { get; set; }

        /// <summary>What the server has to be told of earlier log-outs, oldest first.</summary>
        internal IReadOnlyList<Departure> Departures { get; private set; } = new Departure[0];

        /// <summary>
        /// The credentials for requests; <c>null</c> if the user has to log in or the token has to be refreshed.
        /// </summary>
        internal ClientCredentials Current =>
            AccessToken != null ? ClientCredentials.Bearer(AccessToken)
            : Password != null ? ClientCredentials.Basic(UserName, Password) : null;

        /// <summary>The value as JSON text in UTF-8, for a store, which encrypts it.</summary>
        public byte[] Encode() => CredentialsCodec.Encode(this);

        /// <summary>Reads what <see cref="Encode"/> has made.</summary>
        /// <exception cref="System.FormatException">It is damaged.</exception>
        public static StoredCredentials Decode(byte[] data) => CredentialsCodec.Decode(data);

        /// <summary>Whether two values are the same; <c>null</c> is the same as <c>null</c> only.</summary>
        public static bool IsSame(StoredCredentials one, StoredCredentials other) =>
            one == null || other == null ? one == other : one.Encode().SequenceEqual(other.Encode());

        /// <inheritdoc/>
        public override string ToString() => "credentials of a user";

        /// <summary>The same credentials with other departures; <c>null</c> if nothing is left to store.</summary>
        internal StoredCredentials With(IEnumerable<Departure> departures)
        {
            var copy = (StoredCredentials)MemberwiseClone();
            copy.Departures = departures.Reverse().Take(CredentialsCodec.MaxDepartures).Reverse().ToArray();
            return copy.UserName == null && copy.Departures.Count == 0 ? null : copy;
        }

        /// <summary>
        /// Whether there are credentials that have not expired. Half a minute before its end a token counts as expired.
        /// </summary>
        internal bool IsUsable(double now) =>
            Current != null && (ExpiresAt == null || now < ExpiresAt - 30 || RefreshToken == null);
    }
}
