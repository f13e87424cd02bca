using System.Collections.Generic;
using System.Linq;
using System.Text;

namespace SecurePush
{
    /// <summary>Writes and reads credentials as JSON text, which the store encrypts.</summary>
    internal static class CredentialsCodec
    {
        /// <summary>More log-outs without a network are not remembered; the oldest are forgotten.</summary>
        public const int MaxDepartures = 8;

        public static byte[] Encode(StoredCredentials credentials)
        {
            var json = new ClientStateCodec.Writer();
            json.Text("userName", credentials.UserName);
            json.Text("accessToken", credentials.AccessToken);
            json.Number("expiresAt", credentials.ExpiresAt);
            json.Text("refreshToken", credentials.RefreshToken);
            json.Text("password", credentials.Password);
            json.List("departures", credentials.Departures.Select(Text));
            return Encoding.UTF8.GetBytes(json.ToString());
        }

        /// <exception cref="System.FormatException">It is damaged.</exception>
        public static StoredCredentials Decode(byte[] data)
        {
            var members = JsonValue.Parse(data).Members();
            var credentials = new StoredCredentials(Text(members, "userName"))
            {
                AccessToken = Text(members, "accessToken"),
                ExpiresAt = members.TryGetValue("expiresAt", out var seconds) ? seconds.Number() : (double?)null,
                RefreshToken = Text(members, "refreshToken"),
                Password = Text(members, "password"),
            };
            var departures = members.TryGetValue("departures", out var list)
                ? list.Elements(MaxDepartures).Select(element => Departure(element.Text())).ToList()
                : new List<Departure>();
            return credentials.With(departures) ?? throw JsonScanner.Malformed();
        }

        private static string Text(Departure departure)
        {
            var json = new ClientStateCodec.Writer();
            json.Text("id", departure.Id);
            json.Number("at", departure.At);
            json.Text("url", departure.Url);
            json.Text("userName", departure.UserName);
            json.Text("installation", departure.InstallationId);
            json.Text("accessToken", departure.AccessToken);
            json.Text("refreshToken", departure.RefreshToken);
            json.Number("forgetting", departure.IsForgetting ? 1 : 0);
            return json.ToString();
        }

        private static Departure Departure(string json)
        {
            var members = JsonValue.Parse(Encoding.UTF8.GetBytes(json)).Members();
            var departure = SecurePush.Departure.Restored(AnswerMembers.Required(members, "id").Text());
            departure.At = AnswerMembers.Required(members, "at").Number();
            departure.Url = AnswerMembers.Required(members, "url").Text();
            departure.UserName = Text(members, "userName");
            departure.InstallationId = ClientStateCodec.Installation(Text(members, "installation"));
            departure.AccessToken = Text(members, "accessToken");
            departure.RefreshToken = Text(members, "refreshToken");
            departure.IsForgetting = AnswerMembers.Required(members, "forgetting").Number() == 1;
            return departure;
        }

        private static string Text(IReadOnlyDictionary<string, JsonValue> members, string name) =>
            members.TryGetValue(name, out var value) ? value.Text() : null;
    }
}
