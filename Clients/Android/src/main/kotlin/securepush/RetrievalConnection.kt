package securepush

import java.net.URI

/** Sends requests to the retrieval service by the fetch plan. */
internal class RetrievalConnection(
    base: URI,
    private val limits: ClientLimits,
    private val credentials: CredentialsProvider,
    private val transport: Transport,
    private val clock: ClientClock,
    threads: ClientThreads
) {
    private val base = base.toString().trimEnd('/')
    private val timeLimit = TimeLimit(clock, threads)

    /** A request, without the server and the credentials. The path and the query need no percent coding. */
    class Call(
        val path: String,
        val method: String = "GET",
        val query: List<Pair<String, String>> = emptyList(),
        val json: String? = null,
        /** The status of a success. */
        val success: Int = 200,
        /** `false` for what the server tells everybody. */
        val isAuthorized: Boolean = true,
        /** `false` for a request that the next wake sends again if this one fails. */
        val isRetried: Boolean = true
    )

    sealed class Outcome {
        /** A success of the form that the route has. */
        class Success(val response: TransportResponse) : Outcome()
        /** Another status, after all tries. */
        class Refused(val status: Int) : Outcome() {
            /** Whether only the server can have sent it. A 401 is [LoggedOut], and a foreign 4xx is [Failed]. */
            val isOwn: Boolean get() = status in 400..499 && status != 408 && status != 429
        }
        /** No response of the server. */
        class Failed(val code: DiagnosticCode) : Outcome()
        /** The user has to log in. */
        class LoggedOut(val code: DiagnosticCode) : Outcome()
        /** The credentials cannot be read before the first unlock. */
        object Locked : Outcome()

        /** @throws SecurePushFailure if it is no success. */
        fun orThrow(): TransportResponse = (this as? Success ?: throw failure).response

        /** The failure of a request that had to succeed. */
        val failure: SecurePushFailure
            get() = SecurePushFailure(
                when (this) {
                    is Success -> DiagnosticCode.status(response.status)
                    is Refused -> DiagnosticCode.status(status)
                    is Failed -> code
                    is LoggedOut -> code
                    is Locked -> DiagnosticCode.LOCKED
                }
            )
    }

    /** The end of a request. */
    class Reply(
        val outcome: Outcome,
        /** The number of tries whose answer was lost. The server may have carried out each of them. */
        val lost: Int
    )

    /** Sends a request until it succeeds or the plan gives up, at the latest at the deadline. */
    fun send(call: Call, deadline: Long): Outcome = sendCounting(call, deadline).outcome

    /** Sends a request like [send], and counts the tries whose answer was lost. */
    fun sendCounting(call: Call, deadline: Long): Reply {
        val plan = FetchPlan(deadline, limits.millisPerTry)
        var lost = 0
        var refused: ClientCredentials? = null
        while (true) {
            if (plan.timeout(clock.uptime) == null) return Reply(Outcome.Failed(DiagnosticCode.TIMED_OUT), lost)
            var used: ClientCredentials? = null
            val end = try {
                if (call.isAuthorized) {
                    used = credentials(refused, deadline) ?: return Reply(
                        Outcome.LoggedOut(
                            if (refused == null) DiagnosticCode.LOGGED_OUT else DiagnosticCode.status(401)
                        ), lost
                    )
                }
                // They are refreshed once.
                refused = null
                // The credentials may have taken their time.
                val timeout = plan.timeout(clock.uptime)
                    ?: return Reply(Outcome.Failed(DiagnosticCode.TIMED_OUT), lost)
                lost += 1
                val response = send(call, used, timeout)
                val isSuccess = AnswerForm.isSuccess(response, call)
                val isOther2xx = !isSuccess && response.status in 200..299
                // The server may have carried out what somebody else has answered with a success.
                if (!isOther2xx && !mayHideASuccess(response.status)) lost -= 1
                if (isSuccess) return Reply(Outcome.Success(response), lost)
                if (isOther2xx || AnswerForm.isForeignRefusal(response, call.isAuthorized)) {
                    return Reply(Outcome.Failed(DiagnosticCode.MALFORMED_ANSWER), lost)
                }
                end(response, call)
            } catch (e: ClientStoreException) {
                return Reply(Outcome.Locked, lost)
            } catch (e: InterruptedException) {
                return Reply(interrupted(), lost)
            } catch (e: TransportException) {
                TryEnd(FetchPlan.Event.Transport(e.reason), Outcome.Failed(e.code))
            } catch (e: NoCredentials) {
                TryEnd(FetchPlan.Event.NoCredentials, Outcome.Failed(DiagnosticCode.CREDENTIALS))
            } catch (e: Exception) {
                TryEnd(
                    FetchPlan.Event.Transport(TransportException.Reason.UNREACHABLE),
                    Outcome.Failed(DiagnosticCode.UNREACHABLE)
                )
            }
            val step = if (call.isRetried) plan.step(end.event, clock.uptime) else FetchPlan.Step.Finish
            if (step is FetchPlan.Step.Finish) return Reply(end.outcome, lost)
            if (step is FetchPlan.Step.RefreshCredentials) {
                if (!call.isAuthorized) return Reply(end.outcome, lost)
                refused = used
            }
            if (step is FetchPlan.Step.Retry) {
                try {
                    clock.sleep(step.after)
                } catch (e: InterruptedException) {
                    return Reply(interrupted(), lost)
                }
            }
        }
    }

    /** The end of one try. */
    private class TryEnd(val event: FetchPlan.Event, val outcome: Outcome)

    private class NoCredentials : Exception()

    private fun end(response: TransportResponse, call: Call): TryEnd {
        val wait = response.headers["retry-after"]?.let { RetryAfter.millis(it, clock.date) }
        val event = FetchPlan.Event.Response(response.status, wait)
        val isLoggedOut = response.status == 401 && call.isAuthorized
        return TryEnd(
            event,
            if (isLoggedOut) Outcome.LoggedOut(DiagnosticCode.status(401)) else Outcome.Refused(response.status)
        )
    }

    /** The wake is over. The thread stays interrupted, so that nothing else waits either. */
    private fun interrupted(): Outcome {
        Thread.currentThread().interrupt()
        return Outcome.Failed(DiagnosticCode.TIMED_OUT)
    }

    /** The credentials, or new ones after a refusal. */
    private fun credentials(refused: ClientCredentials?, deadline: Long): ClientCredentials? {
        try {
            return timeLimit.run(deadline) {
                if (refused == null) credentials.credentials() else credentials.refresh(refused)
            }
        } catch (e: ClientStoreException) {
            if (e.isLocked) throw e
            throw NoCredentials()
        } catch (e: InterruptedException) {
            throw e
        } catch (e: Exception) {
            throw NoCredentials()
        }
    }

    private fun send(call: Call, credentials: ClientCredentials?, timeout: Long): TransportResponse {
        val headers = LinkedHashMap<String, String>()
        headers["Accept"] = "application/json"
        if (credentials != null) headers["Authorization"] = credentials.authorization
        if (call.json != null) headers["Content-Type"] = "application/json"
        val query = call.query.joinToString("&") { (name, value) -> "$name=$value" }
        val url = URI("$base/${call.path}" + if (call.query.isEmpty()) "" else "?$query")
        val request = TransportRequest(call.method, url, headers, call.json?.toByteArray())
        return timeLimit.run(clock.uptime + timeout) {
            val response = transport.send(request, timeout, limits.maxAnswerBytes)
            if (response.body.size > limits.maxAnswerBytes) {
                throw TransportException(TransportException.Reason.TOO_LARGE)
            }
            response
        }
    }

    /**
     * Whether the server may have carried out a request that has this answer: a proxy's 504 says nothing of the server
     * behind it.
     */
    private fun mayHideASuccess(status: Int) = status == 408 || status >= 500
}
