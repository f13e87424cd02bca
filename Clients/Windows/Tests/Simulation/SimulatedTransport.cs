using System;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush.Tests
{
    /// <summary>A process's way to the server, with the faults of the network and of the server.</summary>
    public sealed class SimulatedTransport : ITransport
    {
        private const int TenMegabytes = 10 << 20;

        private readonly SimulatedServer server;
        private readonly SimulatedClock clock;
        private readonly SimulatedProcess process;
        private readonly FaultPlan faults;

        public SimulatedTransport(
            SimulatedServer server, SimulatedClock clock, SimulatedProcess process, FaultPlan faults)
        {
            this.server = server;
            this.clock = clock;
            this.process = process;
            this.faults = faults;
        }

        public Task<TransportResponse> SendAsync(
            TransportRequest request, double timeout, int maxBytes, CancellationToken cancellation)
        {
            var stage = StageOf(request);
            return process.CallAsync(request.Method + " " + stage, async () =>
            {
                await clock.SleepAsync(0.05, cancellation);
                var fault = faults.Request(stage);
                return fault == null
                    ? server.Respond(request)
                    : await FailAsync(fault, request, timeout, maxBytes, cancellation);
            });
        }

        private async Task<TransportResponse> FailAsync(
            Fault fault, TransportRequest request, double timeout, int maxBytes, CancellationToken cancellation)
        {
            switch (fault.Kind)
            {
                case FaultKind.ConnectionRefused:
                    throw new TransportException(TransportError.Unreachable);
                case FaultKind.Timeout:
                    // The server has done its work; its answer is lost.
                    server.Respond(request);
                    await clock.SleepAsync(timeout, cancellation);
                    throw new TransportException(TransportError.TimedOut);
                case FaultKind.SlowBody:
                    // A transport that does not keep to the time-out. It stops only when it is cancelled.
                    server.Respond(request);
                    await clock.SleepAsync(600, cancellation);
                    throw new TransportException(TransportError.TimedOut);
                case FaultKind.TlsFailure:
                    throw new TransportException(TransportError.Untrusted);
                case FaultKind.Redirect:
                    return new TransportResponse(302);
                case FaultKind.TenMegabytes:
                    return maxBytes < TenMegabytes
                        ? throw new TransportException(TransportError.TooLarge)
                        : new TransportResponse(200, new byte[TenMegabytes]);
                case FaultKind.WrongJson:
                    return Answer("{\"Id\":7,\"Payload\":");
                case FaultKind.WrongId:
                    return Answer(
                        "{\"Id\":\"019aa4a2-ffff-7000-8000-000000000000\",\"Payload\":\"another's\",\"Read\":false}");
                case FaultKind.Status:
                    return SimulatedServer.Refusal(fault.Status, fault.RetryAfter?.ToString());
                case FaultKind.Proxy:
                    return SimulatedServer.OfProxy(fault.Status);
                case FaultKind.UnauthorizedAfterRefresh:
                    return SimulatedServer.Refusal(401);
                default:
                    return server.Respond(request);
            }
        }

        private static TransportResponse Answer(string json) =>
            new TransportResponse(200, Encoding.UTF8.GetBytes(json));

        /// <summary>The stage to which a request belongs.</summary>
        private static Stage StageOf(TransportRequest request)
        {
            var path = request.Uri.AbsolutePath;
            if (path.EndsWith("/api/token", StringComparison.Ordinal))
            {
                return Stage.Token;
            }

            if (path.EndsWith("/api/push-keys", StringComparison.Ordinal))
            {
                return Stage.Keys;
            }

            if (path.EndsWith("/shown", StringComparison.Ordinal) || path.EndsWith("/read", StringComparison.Ordinal))
            {
                return Stage.MarkShown;
            }

            return path.EndsWith("/api/notifications", StringComparison.Ordinal) ? Stage.Inbox : Stage.Fetch;
        }
    }
}
