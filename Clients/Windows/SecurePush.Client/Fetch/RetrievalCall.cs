namespace SecurePush
{
    /// <summary>A request, without the server and the credentials.</summary>
    internal sealed class RetrievalCall
    {
        /// <param name="method">The method.</param>
        /// <param name="path">The path below the server's address. Its characters need no percent coding.</param>
        /// <param name="query">The query. Its characters need no percent coding.</param>
        /// <param name="json">The body.</param>
        public RetrievalCall(string method, string path, string query = null, byte[] json = null)
        {
            Method = method;
            Target = query == null ? path : path + "?" + query;
            Json = json;
        }

        public string Method { get; }

        public string Target { get; }

        public byte[] Json { get; }

        /// <summary>The status of a success.</summary>
        public int Success { get; set; } = 200;

        /// <summary><c>false</c> for what the server tells everybody.</summary>
        public bool IsAuthorized { get; set; } = true;

        /// <summary>
        /// <c>false</c> for a request that the next wake sends again if this one fails. New credentials are still
        /// asked for.
        /// </summary>
        public bool IsRetried { get; set; } = true;
    }

    /// <summary>The kinds of results of a request.</summary>
    internal enum OutcomeKind
    {
        /// <summary>A success of the form that the route has.</summary>
        Success,

        /// <summary>Another status, after all tries.</summary>
        Refused,

        /// <summary>No response of the server.</summary>
        Failed,

        /// <summary>The user has to log in.</summary>
        LoggedOut,

        /// <summary>The credentials cannot be read before the user has signed in to Windows.</summary>
        Locked,
    }

    /// <summary>The result of a request, after all tries.</summary>
    internal sealed class RetrievalOutcome
    {
        private RetrievalOutcome(OutcomeKind kind, DiagnosticCode code)
        {
            Kind = kind;
            Code = code;
        }

        public OutcomeKind Kind { get; }

        /// <summary>Why there is no success.</summary>
        public DiagnosticCode Code { get; }

        /// <summary>The last HTTP status; 0 if there is none.</summary>
        public int Status { get; private set; }

        /// <summary>The body of a success.</summary>
        public byte[] Body { get; private set; }

        /// <summary>
        /// The number of tries whose answer was lost. The server may have carried out each of them.
        /// </summary>
        public int LostTries { get; set; }

        /// <summary>Whether the server says that this user has no such thing.</summary>
        public bool IsGone => Kind == OutcomeKind.Refused && (Status == 403 || Status == 404 || Status == 410);

        public bool IsSuccess => Kind == OutcomeKind.Success;

        /// <summary>
        /// Whether only the server can have refused it. A 401 is <see cref="OutcomeKind.LoggedOut"/>, and a
        /// foreign 4xx is <see cref="OutcomeKind.Failed"/>.
        /// </summary>
        public bool IsOwnRefusal =>
            Kind == OutcomeKind.Refused && Status >= 400 && Status < 500 && Status != 408 && Status != 429;

        public static RetrievalOutcome Success(TransportResponse response) =>
            new RetrievalOutcome(OutcomeKind.Success, null) { Status = response.Status, Body = response.Body };

        public static RetrievalOutcome Refused(int status) =>
            new RetrievalOutcome(OutcomeKind.Refused, DiagnosticCode.Status(status)) { Status = status };

        public static RetrievalOutcome Failed(DiagnosticCode code) => new RetrievalOutcome(OutcomeKind.Failed, code);

        public static RetrievalOutcome LoggedOut(DiagnosticCode code) =>
            new RetrievalOutcome(OutcomeKind.LoggedOut, code);

        public static RetrievalOutcome Locked() => new RetrievalOutcome(OutcomeKind.Locked, DiagnosticCode.Locked);

        /// <exception cref="SecurePushException">It is no success.</exception>
        public RetrievalOutcome OrThrow() => IsSuccess ? this : throw new SecurePushException(Code);
    }
}
