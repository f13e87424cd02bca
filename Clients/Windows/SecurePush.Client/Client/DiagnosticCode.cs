using System;

namespace SecurePush
{
    /// <summary>
    /// Why the user sees the generic text: a short code for support, such as <c>SP-401</c>. It says nothing of the
    /// secret.
    /// </summary>
    public sealed class DiagnosticCode : IEquatable<DiagnosticCode>
    {
        /// <summary>Nobody is logged in, so nothing was asked.</summary>
        public static readonly DiagnosticCode LoggedOut = new DiagnosticCode("SP-LOGIN");

        /// <summary>The credentials could not be read or refreshed now.</summary>
        public static readonly DiagnosticCode Credentials = new DiagnosticCode("SP-CREDENTIALS");

        /// <summary>The time was up.</summary>
        public static readonly DiagnosticCode TimedOut = new DiagnosticCode("SP-TIMEOUT");

        /// <summary>No connection to the server.</summary>
        public static readonly DiagnosticCode Unreachable = new DiagnosticCode("SP-OFFLINE");

        /// <summary>The server's certificate is not trusted.</summary>
        public static readonly DiagnosticCode Untrusted = new DiagnosticCode("SP-TLS");

        /// <summary>The answer is longer than <see cref="ClientLimits.MaxAnswerBytes"/>.</summary>
        public static readonly DiagnosticCode TooLarge = new DiagnosticCode("SP-SIZE");

        /// <summary>The answer is not the JSON that it should be.</summary>
        public static readonly DiagnosticCode MalformedAnswer = new DiagnosticCode("SP-JSON");

        /// <summary>The answer is for another ID.</summary>
        public static readonly DiagnosticCode WrongId = new DiagnosticCode("SP-ID");

        /// <summary>The push has no ID that can be used.</summary>
        public static readonly DiagnosticCode MalformedPush = new DiagnosticCode("SP-PUSH");

        /// <summary>The push has no valid signature.</summary>
        public static readonly DiagnosticCode BadSignature = new DiagnosticCode("SP-SIGNATURE");

        /// <summary>The push was signed more than 28 days ago, or by a clock that is more than a day ahead.</summary>
        public static readonly DiagnosticCode TooOld = new DiagnosticCode("SP-AGE");

        /// <summary>Neither credentials nor store can be read, because the user has not signed in to Windows.</summary>
        public static readonly DiagnosticCode Locked = new DiagnosticCode("SP-LOCKED");

        /// <summary>The system refused to show the secret.</summary>
        public static readonly DiagnosticCode NotPresented = new DiagnosticCode("SP-SHOW");

        /// <summary>
        /// The payload is encrypted, and not for this device: it was registered later, or has lost its key.
        /// </summary>
        public static readonly DiagnosticCode NoKey = new DiagnosticCode("SP-KEY");

        /// <summary>The payload is encrypted, and cannot be opened.</summary>
        public static readonly DiagnosticCode Unopenable = new DiagnosticCode("SP-DECRYPT");

        /// <summary>
        /// The payload is encrypted, and was opened before under another notification, or is too old.
        /// </summary>
        public static readonly DiagnosticCode Replayed = new DiagnosticCode("SP-REPLAY");

        /// <summary>The payload is encrypted, and none of the known senders has signed it.</summary>
        public static readonly DiagnosticCode UnknownSender = new DiagnosticCode("SP-SENDER");

        /// <summary>The payload is not encrypted, and this device takes no other.</summary>
        public static readonly DiagnosticCode NotEncrypted = new DiagnosticCode("SP-PLAIN");

        /// <summary>The content of the payload has expired.</summary>
        public static readonly DiagnosticCode Expired = new DiagnosticCode("SP-EXPIRED");

        private readonly string text;

        private DiagnosticCode(string text)
        {
            this.text = text;
        }

        /// <summary>Whether it makes sense to ask the server for more after this failure.</summary>
        internal bool AllowsCatchUp =>
            !AsksForLogIn && !Equals(Locked) && !Equals(Credentials) && !Equals(TimedOut) && !Equals(Unreachable)
            && !Equals(Untrusted);

        /// <summary>
        /// Whether the notification is there, and this device does not show what it contains. What has expired counts
        /// as gone.
        /// </summary>
        internal bool IsOfEnvelope => Equals(NoKey) || Equals(Unopenable) || Equals(Replayed) || Equals(UnknownSender)
            || Equals(NotEncrypted);

        /// <summary>Whether the user has to log in.</summary>
        internal bool AsksForLogIn => Equals(LoggedOut) || text == "SP-401";

        /// <summary>The server answered with this HTTP status: <c>SP-404</c>.</summary>
        public static DiagnosticCode Status(int status) =>
            new DiagnosticCode("SP-" + status.ToString(System.Globalization.CultureInfo.InvariantCulture));

        /// <summary>Whether two codes are the same.</summary>
        public bool Equals(DiagnosticCode other) => other != null && text == other.text;

        /// <inheritdoc/>
        public override bool Equals(object obj) => Equals(obj as DiagnosticCode);

        /// <inheritdoc/>
        public override int GetHashCode() => text.GetHashCode();

        /// <summary>The code.</summary>
        public override string ToString() => text;

        /// <summary>The code for a missing response.</summary>
        internal static DiagnosticCode Of(TransportError error)
        {
            switch (error)
            {
                case TransportError.TimedOut:
                    return TimedOut;
                case TransportError.Untrusted:
                    return Untrusted;
                case TransportError.TooLarge:
                    return TooLarge;
                default:
                    return Unreachable;
            }
        }
    }
}
