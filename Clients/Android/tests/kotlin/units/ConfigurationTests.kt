package securepush.units

import java.net.URI
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Test
import securepush.Display
import securepush.PushKeySet
import securepush.SecurePushConfiguration
import securepush.SenderKeySet
import securepush.simulation.SimulatedDevice

class ConfigurationTests {
    private fun isTaken(url: String, isInsecureAllowed: Boolean = false): Boolean = try {
        SecurePushConfiguration.Builder(URI(url)).allowsInsecureUrl(isInsecureAllowed).build()
        true
    } catch (e: IllegalArgumentException) {
        false
    }

    /** Credentials and secrets go to other hosts by TLS only. */
    @Test
    fun onlyTlsIsTaken() {
        val urls = listOf(
            "https://push.example.com", "https://push.example.com/path", "http://127.0.0.1:8080", "http://[::1]:1",
            "http://localhost", "http://push.example.com", "http://10.0.2.2:8080", "http://127.0.0.1.example.com",
            "ftp://push.example.com", "https:///path", "https://a@b", "https://a?b", "https://a#b", "push.example.com"
        )
        assertEquals(urls.take(5), urls.filter { isTaken(it) })
        assertEquals(urls.take(8), urls.filter { isTaken(it, isInsecureAllowed = true) })
    }

    @Test
    fun theBuilderHasTheDefaultsOfTheConstructor() {
        val url = URI("https://push.example.com")
        fun parts(of: SecurePushConfiguration) = listOf(
            of.retrievalUrl, of.pushKeys, of.refreshesPushKeys, of.limits, of.showsNoticeWhenGone, of.encryptsEndToEnd,
            of.senderKeys, of.requiresEncryption, of.display, of.allowsInsecureUrl
        )
        assertEquals(parts(SecurePushConfiguration(url)), parts(SecurePushConfiguration.Builder(url).build()))
        assertFalse(SecurePushConfiguration(url).encryptsEndToEnd)
        val keys: PushKeySet = SimulatedDevice.publicKeys
        val senders = SenderKeySet.fromJwkSet(SimulatedDevice.jwkSet.toByteArray())
        val other = SecurePushConfiguration.Builder(url).pushKeys(keys).refreshesPushKeys(false)
            .limits(SecurePushConfiguration(url).limits.copy(maxShownPerWake = 7)).showsNoticeWhenGone(false)
            .encryptsEndToEnd(true).senderKeys(senders).requiresEncryption(true).display(Display.APP)
            .allowsInsecureUrl(true).build()
        val limits = SecurePushConfiguration(url).limits.copy(maxShownPerWake = 7)
        assertEquals(
            parts(SecurePushConfiguration(url, keys, false, limits, false, true, senders, true, Display.APP, true)),
            parts(other)
        )
    }
}
