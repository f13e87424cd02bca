using System;
using System.Text;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>
    /// Gives the client the user's credentials. <see cref="TokenCredentialsProvider"/> is the usual one; an app with a
    /// session of its own writes one.
    /// </summary>
    public interface ICredentialsProvider
    {
        /// <summary>
        /// The user to whom the device belongs; <c>null</c> when nobody is logged in. The name stays while the
        /// credentials are expired: the signature of a push is made for it.
        /// </summary>
        Task<string> UserNameAsync();

        /// <summary>
        /// The credentials to use now; <c>null</c> if the user has to log in. It throws when that is not known now, for
        /// example because the network is down. The client then shows the generic text instead of the prompt.
        /// </summary>
        Task<ClientCredentials> CredentialsAsync();

        /// <summary>
        /// New credentials after the server refused the old ones (401); <c>null</c> if the user has to log in. Many
        /// fetches may ask at the same time, with the same refused credentials. One exchange serves them all.
        /// </summary>
        Task<ClientCredentials> RefreshAsync(ClientCredentials refused);
    }

    /// <summary>Credentials for the retrieval service. They do not show in <see cref="ToString"/>.</summary>
    public sealed class ClientCredentials : IEquatable<ClientCredentials>
    {
        private ClientCredentials(string authorization)
        {
            Authorization = authorization;
        }

        /// <summary>The value of the header <c>Authorization</c>.</summary>
        public string Authorization { get; }

        /// <summary>A JSON Web Token.</summary>
        public static ClientCredentials Bearer(string token) => new ClientCredentials("Bearer " + token);

        /// <summary>A user name and a password.</summary>
        public static ClientCredentials Basic(string userName, string password) =>
            new ClientCredentials(
                "Basic " + Convert.ToBase64String(Encoding.UTF8.GetBytes(userName + ":" + password)));

        /// <summary>Whether two credentials are the same.</summary>
        public bool Equals(ClientCredentials other) => other != null && Authorization == other.Authorization;

        /// <inheritdoc/>
        public override bool Equals(object obj) => Equals(obj as ClientCredentials);

        /// <inheritdoc/>
        public override int GetHashCode() => Authorization.GetHashCode();

        /// <inheritdoc/>
        public override string ToString() => "credentials";
    }

    /// <summary>Credentials that never change, for tools and tests.</summary>
    public sealed class FixedCredentialsProvider : ICredentialsProvider
    {
        private readonly string userName;
        private readonly ClientCredentials credentials;

        /// <summary>Makes a provider.</summary>
        /// <param name="userName">The user of the device.</param>
        /// <param name="credentials">The credentials; <c>null</c> for a device that nobody is logged in to.</param>
        public FixedCredentialsProvider(string userName, ClientCredentials credentials)
        {
            this.userName = userName;
            this.credentials = credentials;
        }

        /// <inheritdoc/>
        public Task<string> UserNameAsync() => Task.FromResult(userName);

        /// <inheritdoc/>
        public Task<ClientCredentials> CredentialsAsync() => Task.FromResult(credentials);

        /// <inheritdoc/>
        public Task<ClientCredentials> RefreshAsync(ClientCredentials refused) =>
            Task.FromResult<ClientCredentials>(null);
    }
}
