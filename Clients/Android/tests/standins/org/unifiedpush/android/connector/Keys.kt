package org.unifiedpush.android.connector.keys

import android.content.Context
import org.unifiedpush.android.connector.data.PublicKeySet

/** A stand-in for the interface of the connector library 3.3. */
interface KeyManager {
    fun decrypt(instance: String, sealed: ByteArray): ByteArray?
    fun generate(instance: String)
    fun getPublicKeySet(instance: String): PublicKeySet?
    fun exists(instance: String): Boolean
    fun delete(instance: String)
}

/** A stand-in: its "encryption" turns each byte around. */
class DefaultKeyManager(@Suppress("UNUSED_PARAMETER") context: Context) : KeyManager {
    override fun decrypt(instance: String, sealed: ByteArray): ByteArray? = sealed.reversedArray()

    override fun generate(instance: String) {
        instances.add(instance)
    }

    override fun getPublicKeySet(instance: String) = PublicKeySet("library", "library").takeIf { exists(instance) }

    override fun exists(instance: String) = instance in instances

    override fun delete(instance: String) {
        instances.remove(instance)
    }

    companion object {
        val instances = HashSet<String>()
    }
}
