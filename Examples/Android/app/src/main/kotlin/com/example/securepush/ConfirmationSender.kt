package com.example.securepush

import java.net.URI
import securepush.ClientCredentials
import securepush.DiagnosticCode
import securepush.SecurePushFailure
import securepush.TransportException
import securepush.TransportRequest

/**
 * The tutorial's "Send push": `POST /api/notifications` with an empty body and the user's own credentials. A real app
 * does not send; its application server does, with an API key.
 */
class ConfirmationSender(ingestUrl: URI, private val app: ExampleApplication) {
    private val url = URI(ingestUrl.toString().trimEnd('/') + "/api/notifications")

    /** @throws SecurePushFailure unless ingest has stored the notification (201). */
    fun send() {
        val credentials = app.credentials.credentials() ?: throw SecurePushFailure(DiagnosticCode.LOGGED_OUT)
        var status = post(credentials)
        if (status == 401) app.credentials.refresh(credentials)?.let { status = post(it) }
        if (status != 201) throw SecurePushFailure(DiagnosticCode.status(status))
    }

    private fun post(credentials: ClientCredentials): Int {
        val headers = mapOf("Authorization" to credentials.authorization)
        try {
            return app.transport.send(TransportRequest("POST", url, headers, ByteArray(0)), TIMEOUT, MAX_BYTES).status
        } catch (e: TransportException) {
            throw SecurePushFailure(DiagnosticCode.UNREACHABLE)
        }
    }

    private companion object {
        const val TIMEOUT = 8_000L
        const val MAX_BYTES = 64 shl 10
    }
}
