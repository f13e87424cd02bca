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
            var json = new JsonWriter();
            json.Text("userName", credentials.UserName);
            json.Text("accessToken", credentials.AccessToken);
            json.Number("expiresAt", credentials.ExpiresAt);
            json.Text("refreshToken", credentials.RefreshToken);
            json.Text("password", credentials.Password);
            json.List("departures", credentials.Departures.Select(Text));
            return json.Bytes();
        }

        /// <exception cref="System.FormatException">It is damaged.</exception>
        public static StoredCredentials Decode(byte[] data)
        {
            var members = JsonValue.Parse(data).Members();
            var credentials = new StoredCredentials(members["userName"]?.Text())
            {
                AccessToken = members["accessToken"]?.Text(),
                ExpiresAt = members["expiresAt"]?.Number(),
                RefreshToken = members["refreshToken"]?.Text(),
                Password = members["password"]?.Text(),
            };
            var departures = members["departures"]?.Elements(MaxDepartures) ?? new JsonValue[0];
            return credentials.With(departures.Select(element => Departure(element.Text())))
                ?? throw JsonScanner.Malformed();
        }

        private static string Text(Departure departure)
        {
            var json = new JsonWriter();
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
            var departure = SecurePush.Departure.Restored(members.Required("id").Text());
            departure.At = members.Required("at").Number();
            departure.Url = members.Required("url").Text();
            departure.UserName = members["userName"]?.Text();
            departure.InstallationId = ClientStateCodec.Installation(members["installation"]?.Text());
            departure.AccessToken = members["accessToken"]?.Text();
            departure.RefreshToken = members["refreshToken"]?.Text();
            departure.IsForgetting = members.Required("forgetting").Number() == 1;
            return departure;
        }
    }
}
