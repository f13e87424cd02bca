package org.unifiedpush.android.connector

import android.content.BroadcastReceiver
import android.content.Context
import android.content.Intent
import java.security.GeneralSecurityException
import org.unifiedpush.android.connector.data.PushEndpoint
import org.unifiedpush.android.connector.data.PushMessage
import org.unifiedpush.android.connector.keys.DefaultKeyManager
import org.unifiedpush.android.connector.keys.KeyManager

/** A stand-in for the enumeration of the connector library 3.3. */
enum class FailedReason { INTERNAL_ERROR, NETWORK, ACTION_REQUIRED, VAPID_REQUIRED }

/** A stand-in for the receiver of the connector library 3.3: what the specification AND_3.1 asks of a connector. */
abstract class MessagingReceiver : BroadcastReceiver() {
    open fun getKeyManager(context: Context): KeyManager = DefaultKeyManager(context)

    abstract fun onNewEndpoint(context: Context, endpoint: PushEndpoint, instance: String)
    abstract fun onRegistrationFailed(context: Context, reason: FailedReason, instance: String)
    abstract fun onUnregistered(context: Context, instance: String)
    open fun onTempUnavailable(context: Context, instance: String) = Unit
    abstract fun onMessage(context: Context, message: PushMessage, instance: String)

    override fun onReceive(context: Context, intent: Intent) {
        val token = intent.getStringExtra("token") ?: return
        // Another app does not know the token.
        val instance = UnifiedPush.instances.entries.find { it.value == token }?.key ?: return
        val keys = getKeyManager(context)
        when (intent.action?.substringAfterLast('.')) {
            "NEW_ENDPOINT" -> {
                val endpoint = intent.getStringExtra("endpoint") ?: return
                onNewEndpoint(context, PushEndpoint(endpoint, keys.getPublicKeySet(instance), false), instance)
            }
            "REGISTRATION_FAILED" -> {
                val reason = FailedReason.values().find { it.name == intent.getStringExtra("reason") }
                onRegistrationFailed(context, reason ?: FailedReason.INTERNAL_ERROR, instance)
            }
            "TEMP_UNAVAILABLE" -> onTempUnavailable(context, instance)
            "UNREGISTERED" -> {
                UnifiedPush.unregister(context, instance, keys)
                onUnregistered(context, instance)
            }
            "MESSAGE" -> {
                val body = intent.getByteArrayExtra("bytesMessage") ?: return
                val content = try {
                    keys.decrypt(instance, body)
                } catch (e: GeneralSecurityException) {
                    null
                }
                onMessage(context, PushMessage(content ?: body, content != null), instance)
            }
        }
    }
}
