using System;
using System.Collections.Generic;
using System.Linq;

namespace SecurePush.Tests
{
    /// <summary>What goes wrong.</summary>
    public enum FaultKind
    {
        None, ConnectionRefused, Timeout, TlsFailure, SlowBody, Redirect, TenMegabytes, WrongJson, WrongId,
        UnauthorizedAfterRefresh, Status, StoreFull, StoreCorrupt, StoreReadOnly, Locked, ClockForward, ClockBack,
        PresenterRefuses, HostilePush, Proxy, StoreHangs, StoreThrows, PresenterHangs,
    }

    /// <summary>Where it begins to go wrong.</summary>
    public enum Stage
    {
        Parse, Verify, Token, Fetch, Refresh, Inbox, MarkShown, Keys, Store, Present, TimeWillExpire, Resume,
    }

    /// <summary>How long it goes wrong.</summary>
    public enum FaultLength
    {
        /// <summary>Only the first time at the stage.</summary>
        Once,

        /// <summary>From the stage to the end of the wake.</summary>
        Lasting,
    }

    /// <summary>A fault of the table: the same as in the Swift SDK's.</summary>
    public sealed class Fault
    {
        private Fault(FaultKind kind, int status = 0, int? retryAfter = null)
        {
            Kind = kind;
            Status = status;
            RetryAfter = retryAfter;
        }

        public static IReadOnlyList<Fault> All { get; } = Enum.GetValues(typeof(FaultKind)).Cast<FaultKind>()
            .Where(kind => kind != FaultKind.Status && kind != FaultKind.Proxy).Select(kind => new Fault(kind))
            .Concat(new[] { 401, 403, 404, 408, 410, 500, 503 }.Select(status => new Fault(FaultKind.Status, status)))
            .Concat(new[] { 200, 400, 401, 404 }.Select(status => new Fault(FaultKind.Proxy, status)))
            .Concat(new[] { 1, 3600 }.Select(seconds => new Fault(FaultKind.Status, 429, seconds))).ToList();

        public static Fault None => All[0];

        public FaultKind Kind { get; }

        public int Status { get; }

        public int? RetryAfter { get; }

        public override string ToString() =>
            Kind == FaultKind.Proxy ? Status + " of a proxy"
            : Kind != FaultKind.Status ? Kind.ToString()
            : RetryAfter == null ? Status.ToString() : Status + " for " + RetryAfter + " s";
    }
}
