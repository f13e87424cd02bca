using System.Collections.Generic;
using System.Text;

namespace SecurePush
{
    /// <summary>Writes and reads credentials as JSON text, which the store encrypts.</summary>
    internal static class CredentialsCodec
    {
        public static byte[] Encode(StoredCredentials credentials)
        {
            var json = new ClientStateCodec.Writer();
            json.Text("userName", credentials.UserName);
            json.Text("accessToken", credentials.AccessToken);
            json.Number("expiresAt", credentials.ExpiresAt);
            json.Text("refreshToken", credentials.RefreshToken);
            json.Text("password", credentials.Password);
            return Encoding.UTF8.GetBytes(json.ToString());
        }

        /// <exception cref="System.FormatException">It is damaged.</exception>
        public static StoredCredentials Decode(byte[] data)
        {
            var members = JsonValue.Parse(data).Members();
            return new StoredCredentials(AnswerMembers.Required(members, "userName").Text())
            {
                AccessToken = Text(members, "accessToken"),
                ExpiresAt = members.TryGetValue("expiresAt", out var seconds) ? seconds.Number() : (double?)null,
                RefreshToken = Text(members, "refreshToken"),
                Password = Text(members, "password"),
            };
        }

        private static string Text(IReadOnlyDictionary<string, JsonValue> members, string name) =>
            members.TryGetValue(name, out var value) ? value.Text() : null;
    }
}
