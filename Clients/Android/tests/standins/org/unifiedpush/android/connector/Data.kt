package org.unifiedpush.android.connector.data

/** Stand-ins for the data of the connector library 3.3. */
class PublicKeySet(val pubKey: String, val auth: String)

class PushEndpoint(val url: String, val pubKeySet: PublicKeySet?, val temporary: Boolean)

class PushMessage(val content: ByteArray, val decrypted: Boolean)
