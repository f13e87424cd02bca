package org.unifiedpush.android.connector

import android.app.Activity
import android.content.Context
import android.content.Intent
import java.util.UUID
import org.unifiedpush.android.connector.keys.DefaultKeyManager
import org.unifiedpush.android.connector.keys.KeyManager

/** The name of a registration, unless the app gives another one. */
const val INSTANCE_DEFAULT = "default"

/** A stand-in for the connector library 3.3, with its store in memory. */
object UnifiedPush {
    /** The distributors on the device, by package. */
    val installed = LinkedHashMap<String, StandInDistributor>()
    /** The tokens of the app's registrations, by instance. */
    val instances = LinkedHashMap<String, String>()
    private var saved: String? = null

    /** A device without distributors, and an app that has asked none. */
    fun reset() {
        installed.clear()
        instances.clear()
        saved = null
    }

    @JvmStatic
    fun getDistributors(@Suppress("UNUSED_PARAMETER") context: Context): List<String> = installed.keys.toList()

    @JvmStatic
    fun saveDistributor(@Suppress("UNUSED_PARAMETER") context: Context, distributor: String) {
        saved = distributor
    }

    @JvmStatic
    fun getSavedDistributor(@Suppress("UNUSED_PARAMETER") context: Context): String? = saved?.takeIf { it in installed }

    @JvmStatic
    fun tryUseCurrentOrDefaultDistributor(context: Context, callback: (Boolean) -> Unit) {
        if (getSavedDistributor(context) == null && context is Activity) saved = installed.keys.firstOrNull()
        callback(getSavedDistributor(context) != null)
    }

    @JvmStatic
    fun register(
        context: Context, instance: String = INSTANCE_DEFAULT, messageForDistributor: String? = null,
        vapid: String? = null, keyManager: KeyManager = DefaultKeyManager(context)
    ) {
        val token = instances.getOrPut(instance) { UUID.randomUUID().toString() }
        if (!keyManager.exists(instance)) keyManager.generate(instance)
        val distributor = installed[getSavedDistributor(context) ?: return] ?: return
        distributor.registrations[token] = StandInDistributor.Registration(messageForDistributor, vapid)
    }

    @JvmStatic
    fun unregister(
        context: Context, instance: String = INSTANCE_DEFAULT, keyManager: KeyManager = DefaultKeyManager(context)
    ) {
        val token = instances.remove(instance) ?: return
        installed[saved]?.registrations?.remove(token)
        keyManager.delete(instance)
        if (instances.isEmpty()) saved = null
    }
}

/** A distributor on the device. Its broadcasts come when the test sends them. */
class StandInDistributor {
    class Registration(val description: String?, val vapid: String?)

    /** What apps have asked for, by token. */
    val registrations = LinkedHashMap<String, Registration>()

    companion object {
        /** A broadcast to the app. */
        fun broadcast(action: String, token: String, vararg extras: Pair<String, String>): Intent {
            val intent = Intent("org.unifiedpush.android.connector.$action").putExtra("token", token)
            for ((name, value) in extras) intent.putExtra(name, value)
            return intent
        }
    }
}
