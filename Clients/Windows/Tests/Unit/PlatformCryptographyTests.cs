using System.Linq;
using System.Runtime.InteropServices;
using System.Text;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>
    /// The SDK's calls of CNG and of the platform provider, on a stand-in for their functions. OpenSSL does the rest.
    /// </summary>
    [TestFixture]
    public sealed class PlatformCryptographyTests
    {
        private const string StandIn = "libcng.so";
        private readonly PlatformCryptography platform = new PlatformCryptography();
        private readonly LibCrypto other = new LibCrypto();

        [SetUp]
        [TearDown]
        public void WithoutATpm() => CngStandInSetTpm(0);

        [TestCase(0, false)]
        [TestCase(1, true)]
        [TestCase(2, false)]
        public void AKeyIsInTheTpmIfThatWorks(int tpm, bool isInTpm)
        {
            int alive = CngStandInAlive(), stored = CngStandInStored();
            CngStandInSetTpm(tpm);
            var mine = platform.MakeKeyAsync().Result;
            Assert.That(other.IsPublicKey(mine.PublicKey));
            Assert.That(mine.PrivateKey.Length == 97, Is.EqualTo(!isInTpm));
            Assert.That(CngStandInStored() - stored, Is.EqualTo(isInTpm ? 1 : 0));
            for (var count = 0; count < 20; count++)
            {
                var theirs = LibCrypto.Make();
                Assert.That(
                    platform.AgreeAsync(mine.PrivateKey, theirs.PublicKey).Result,
                    Is.EqualTo(other.AgreeAsync(theirs.PrivateKey, mine.PublicKey).Result));
            }

            var changed = LibCrypto.Make().PublicKey;
            changed[64] ^= 1;
            foreach (var bytes in new[] { changed, new byte[65], new byte[64] })
            {
                Assert.That(platform.AgreeAsync(mine.PrivateKey, bytes).Result, Is.Null);
            }

            platform.RemoveKeyAsync(mine.PrivateKey).Wait();
            platform.RemoveKeyAsync(mine.PrivateKey).Wait();
            Assert.That(CngStandInStored(), Is.EqualTo(stored));
            if (isInTpm)
            {
                Assert.That(platform.AgreeAsync(mine.PrivateKey, LibCrypto.Make().PublicKey).Result, Is.Null);
            }

            Assert.That(CngStandInAlive(), Is.EqualTo(alive));
        }

        [Test]
        public void SignaturesAndPointsAreChecked()
        {
            var alive = CngStandInAlive();
            var key = LibCrypto.Make();
            var text = Encoding.ASCII.GetBytes("text");
            var signature = LibCrypto.Sign(key.PrivateKey.Take(32).ToArray(), text);
            Assert.That(platform.Verify(key.PublicKey, text, signature));
            for (var i = 0; i < 64; i++)
            {
                var forged = (byte[])signature.Clone();
                forged[i] ^= 128;
                Assert.That(platform.Verify(key.PublicKey, text, forged), Is.False);
            }

            var changed = (byte[])key.PublicKey.Clone();
            changed[64] ^= 1;
            foreach (var bytes in new[] { changed, new byte[65], new byte[64], null })
            {
                Assert.That(platform.IsPublicKey(bytes), Is.False);
                Assert.That(platform.Verify(bytes, text, signature), Is.False);
            }

            Assert.That(platform.IsPublicKey(key.PublicKey));
            Assert.That(platform.Verify(key.PublicKey, text, null), Is.False);
            Assert.That(platform.Verify(key.PublicKey, null, signature), Is.False);
            Assert.That(CngStandInAlive(), Is.EqualTo(alive));
        }

        [Test]
        public void AesGcmIsOpened()
        {
            var alive = CngStandInAlive();
            foreach (var length in new[] { 0, 1, 16, 1000, (256 << 10) + 7 })
            {
                foreach (var size in new[] { 16, 32 })
                {
                    byte[] key = LibCrypto.RandomBytes(size), nonce = LibCrypto.RandomBytes(12);
                    byte[] plain = LibCrypto.RandomBytes(length), data = LibCrypto.RandomBytes(length % 5);
                    var box = LibCrypto.SealAesGcm(key, nonce, plain, data);
                    Assert.That(platform.OpenAesGcm(key, nonce, box, data), Is.EqualTo(plain));
                    box[length] ^= 1;
                    Assert.That(platform.OpenAesGcm(key, nonce, box, data), Is.Null);
                }
            }

            Assert.That(platform.OpenAesGcm(new byte[16], new byte[12], new byte[15], new byte[0]), Is.Null);
            Assert.That(CngStandInAlive(), Is.EqualTo(alive));
        }

        [DllImport(StandIn)]
        private static extern void CngStandInSetTpm(int mode);

        [DllImport(StandIn)]
        private static extern int CngStandInAlive();

        [DllImport(StandIn)]
        private static extern int CngStandInStored();
    }
}
