package securepush

import java.util.Base64

/** Credentials for the retrieval service. Their `toString` does not show them. */
class ClientCredentials private constructor(
    /** The value of the header `Authorization`: never log it. */
    val authorization: String
) {
    override fun equals(other: Any?): Boolean = other is ClientCredentials && other.authorization == authorization

    override fun hashCode(): Int = authorization.hashCode()

    override fun toString(): String = if (authorization.startsWith("Bearer ")) "bearer token" else "name and password"

    companion object {
        /** A JSON Web Token. */
        @JvmStatic
        fun bearer(token: String) = ClientCredentials("Bearer $token")

        /** A user name and a password. */
        @JvmStatic
        fun basic(userName: String, password: String) = ClientCredentials(
            "Basic " + Base64.getEncoder().encodeToString("$userName:$password".toByteArray())
        )
    }
}

/**
 * Gives the client the user's credentials. [TokenCredentialsProvider] is the usual one; an app with a session of its
 * own writes one. The functions are called on many threads at once, and may wait.
 */
interface CredentialsProvider {
    /**
     * The user to whom the device belongs; `null` when nobody is logged in. The name stays while the credentials are
     * expired: the signature of a push is made for it.
     *
     * @throws Exception when it is not known now.
     */
    @Throws(Exception::class)
    fun userName(): String?

    /**
     * The credentials to use now; `null` if the user has to log in.
     *
     * @throws Exception when it is not known now, for example because the network is down or the store is locked. The
     *   client then shows the generic text instead of the prompt.
     */
    @Throws(Exception::class)
    fun credentials(): ClientCredentials?

    /**
     * New credentials after the server refused the old ones (401). The client asks once per fetch.
     *
     * Many fetches may ask at the same time, with the same refused credentials. One exchange serves them all.
     *
     * @param refused the credentials that were refused.
     * @return other credentials; `null` if the user has to log in.
     * @throws Exception when it is not known now, as in [credentials].
     */
    @Throws(Exception::class)
    fun refresh(refused: ClientCredentials): ClientCredentials?
}

/** Credentials that never change, for tools and tests; `null` for a device that nobody is logged in to. */
class FixedCredentialsProvider(private val name: String, private val value: ClientCredentials?) : CredentialsProvider {
    override fun userName(): String? = name

    override fun credentials(): ClientCredentials? = value

    override fun refresh(refused: ClientCredentials): ClientCredentials? = null
}
