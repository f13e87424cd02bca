using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>Sends requests to the retrieval service by the fetch plan.</summary>
    internal sealed class RetrievalConnection
    {
        private readonly Uri baseUrl;
        private readonly ClientLimits limits;
        private readonly ICredentialsProvider credentials;
        private readonly ITransport transport;
        private readonly IClientClock clock;

        public RetrievalConnection(
            Uri baseUrl, ClientLimits limits, ICredentialsProvider credentials, ITransport transport,
            IClientClock clock)
        {
            this.baseUrl = new Uri(baseUrl.AbsoluteUri.TrimEnd('/') + "/");
            this.limits = limits;
            this.credentials = credentials;
            this.transport = transport;
            this.clock = clock;
        }

        /// <summary>Sends a request until it succeeds or the plan gives up. It never throws.</summary>
        /// <param name="call">The request.</param>
        /// <param name="deadline">The <see cref="IClientClock.Uptime"/> at which it ends.</param>
        /// <param name="cancellation">Ends it early.</param>
        public async Task<RetrievalOutcome> SendAsync(
            RetrievalCall call, double deadline, CancellationToken cancellation = default(CancellationToken))
        {
            var exchange = new Exchange(this, call, deadline, cancellation);
            var outcome = await exchange.RunAsync();
            outcome.LostTries = exchange.LostTries;
            return outcome;
        }

        /// <summary>The tries of one request.</summary>
        private sealed class Exchange
        {
            private readonly RetrievalConnection owner;
            private readonly RetrievalCall call;
            private readonly double deadline;
            private readonly CancellationToken cancellation;
            private readonly FetchPlan plan;
            private ClientCredentials used;
            private ClientCredentials refused;
            private RetrievalOutcome ending;

            public Exchange(
                RetrievalConnection owner, RetrievalCall call, double deadline, CancellationToken cancellation)
            {
                this.owner = owner;
                this.call = call;
                this.deadline = deadline;
                this.cancellation = cancellation;
                plan = new FetchPlan(deadline, owner.limits.SecondsPerTry);
            }

            public int LostTries { get; private set; }

            public async Task<RetrievalOutcome> RunAsync()
            {
                while (true)
                {
                    ending = RetrievalOutcome.Failed(DiagnosticCode.TimedOut);
                    if (plan.Timeout(owner.clock.Uptime) == null)
                    {
                        return ending;
                    }

                    var step = await TryAsync();
                    if (!call.IsRetried && step.Kind != FetchStepKind.RefreshCredentials)
                    {
                        return ending;
                    }

                    if (step.Kind == FetchStepKind.Retry
                        && await owner.clock.TrySleepAsync(step.Delay, cancellation))
                    {
                        continue;
                    }

                    if (step.Kind != FetchStepKind.RefreshCredentials || !call.IsAuthorized)
                    {
                        return ending;
                    }

                    refused = used;
                }
            }

            private async Task<FetchStep> TryAsync()
            {
                try
                {
                    if (call.IsAuthorized && !await HasCredentialsAsync())
                    {
                        ending = RetrievalOutcome.LoggedOut(
                            refused == null ? DiagnosticCode.LoggedOut : DiagnosticCode.Status(401));
                        return FetchStep.Finish;
                    }

                    // A refresh of the credentials may have taken long.
                    refused = null;
                    var timeout = plan.Timeout(owner.clock.Uptime);
                    if (timeout == null)
                    {
                        return FetchStep.Finish;
                    }

                    LostTries++;
                    return After(await owner.SendAsync(call, used, timeout.Value, cancellation));
                }
                catch (Exception error) when (StateKeeper.IsLocked(error))
                {
                    ending = RetrievalOutcome.Locked();
                    return FetchStep.Finish;
                }
                catch (TransportException error)
                {
                    ending = RetrievalOutcome.Failed(DiagnosticCode.Of(error.Error));
                    return plan.AfterError(error.Error, owner.clock.Uptime);
                }
                catch (OperationCanceledException)
                {
                    ending = RetrievalOutcome.Failed(DiagnosticCode.TimedOut);
                    return FetchStep.Finish;
                }
                catch (CredentialsUnavailableException)
                {
                    ending = RetrievalOutcome.Failed(DiagnosticCode.Credentials);
                    return plan.AfterMissingCredentials(owner.clock.Uptime);
                }
                catch (Exception)
                {
                    // A transport of the app may throw anything. None of it may end the wake without a text.
                    ending = RetrievalOutcome.Failed(DiagnosticCode.Unreachable);
                    return plan.AfterError(TransportError.Unreachable, owner.clock.Uptime);
                }
            }

            private FetchStep After(TransportResponse response)
            {
                var isSuccess = AnswerForm.IsSuccess(response, call);
                var isOther2xx = !isSuccess && response.Status >= 200 && response.Status < 300;

                // The server may have carried out what somebody else has answered with a success.
                LostTries -= isOther2xx || MayHideASuccess(response.Status) ? 0 : 1;
                if (isSuccess)
                {
                    ending = RetrievalOutcome.Success(response);
                    return FetchStep.Finish;
                }

                if (isOther2xx || AnswerForm.IsForeignRefusal(response, call.IsAuthorized))
                {
                    ending = RetrievalOutcome.Failed(DiagnosticCode.MalformedAnswer);
                    return FetchStep.Finish;
                }

                ending = response.Status == 401 && call.IsAuthorized
                    ? RetrievalOutcome.LoggedOut(DiagnosticCode.Status(401))
                    : RetrievalOutcome.Refused(response.Status);
                var retryAfter = RetryAfter.Seconds(response.RetryAfter, owner.clock.UnixTime);
                return plan.AfterResponse(response.Status, retryAfter, owner.clock.Uptime);
            }

            /// <summary>
            /// Whether the server may have carried out a request that has this answer: a proxy's 504 says nothing of
            /// the server behind it.
            /// </summary>
            private static bool MayHideASuccess(int status) => status == 408 || status >= 500;

            /// <summary>Gets the credentials, or new ones after a refusal.</summary>
            private async Task<bool> HasCredentialsAsync()
            {
                try
                {
                    var provider = owner.credentials;
                    used = await TimeLimit.RunAsync(
                        deadline, owner.clock, cancellation,
                        token => refused == null ? provider.CredentialsAsync() : provider.RefreshAsync(refused));
                    return used != null;
                }
                catch (Exception error) when (!StateKeeper.IsLocked(error) && !(error is OperationCanceledException))
                {
                    throw new CredentialsUnavailableException();
                }
            }
        }

        private Task<TransportResponse> SendAsync(
            RetrievalCall call, ClientCredentials used, double timeout, CancellationToken cancellation)
        {
            var headers = new Dictionary<string, string> { { "Accept", "application/json" } };
            if (call.IsAuthorized)
            {
                headers["Authorization"] = used.Authorization;
            }

            if (call.Json != null)
            {
                headers["Content-Type"] = "application/json";
            }

            var request = new TransportRequest(call.Method, new Uri(baseUrl, call.Target), headers, call.Json);
            return TimeLimit.RunAsync(
                clock.Uptime + timeout, clock, cancellation,
                async token =>
                {
                    var response = await transport.SendAsync(request, timeout, limits.MaxAnswerBytes, token);
                    return response.Body.Length <= limits.MaxAnswerBytes
                        ? response
                        : throw new TransportException(TransportError.TooLarge);
                });
        }

        private sealed class CredentialsUnavailableException : Exception
        {
        }
    }
}
