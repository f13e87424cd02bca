using System.Linq;
using System.Numerics;
using System.Text;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>The SDK's own algorithms, by the vectors of their standards.</summary>
    [TestFixture]
    public sealed class CryptographyTests
    {
        private readonly ManagedCryptography cryptography = new ManagedCryptography();

        /// <summary>RFC 8032, section 7.1: TEST 1, TEST 2, TEST 3 and TEST SHA(abc).</summary>
        [TestCase(
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
            + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b")]
        [TestCase(
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00")]
        [TestCase(
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
            + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a")]
        [TestCase(
            "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
            "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589"
            + "09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704")]
        public void Ed25519VerifiesTheVectorsOfRfc8032(string seed, string key, string message, string signature)
        {
            byte[] publicKey = Hex.Bytes(key), text = Hex.Bytes(message), signed = Hex.Bytes(signature);
            Assert.That(cryptography.VerifyEd25519(publicKey, text, signed));
            var signer = new PushSigner(Hex.Bytes(seed));
            Assert.That(Hex.Text(signer.PublicKey), Is.EqualTo(key));
            Assert.That(Hex.Text(signer.Sign(text)), Is.EqualTo(signature));
            for (var i = 0; i < 64; i++)
            {
                var forged = (byte[])signed.Clone();
                forged[i] ^= (byte)(1 << (i % 8));
                Assert.That(cryptography.VerifyEd25519(publicKey, text, forged), Is.False, "byte " + i);
            }

            Assert.That(cryptography.VerifyEd25519(publicKey, text.Concat(new byte[1]).ToArray(), signed), Is.False);
        }

        [Test]
        public void Ed25519RefusesNumbersBeyondTheOrder()
        {
            var signer = new PushSigner(new byte[32]);
            var text = Encoding.ASCII.GetBytes("text");
            var signature = signer.Sign(text);
            Assert.That(cryptography.VerifyEd25519(signer.PublicKey, text, signature));
            var larger = (Ed25519.Number(signature.Skip(32).ToArray()) + Ed25519.Order).ToByteArray();
            System.Array.Resize(ref larger, 32);
            var malleable = signature.Take(32).Concat(larger).ToArray();
            Assert.That(cryptography.VerifyEd25519(signer.PublicKey, text, malleable), Is.False);
        }

        [Test]
        public void Ed25519RefusesKeysThatAreNoPointsOrHaveAnotherEncoding()
        {
            var text = Encoding.ASCII.GetBytes("text");
            var signature = new byte[64];
            signature[0] = 1;

            // The neutral element signs everything with R = 1 and S = 0. Its second encoding is 1 + p.
            var neutral = new byte[32];
            neutral[0] = 1;
            var other = (BigInteger.Pow(2, 255) - 18).ToByteArray();
            System.Array.Resize(ref other, 32);
            Assert.That(cryptography.VerifyEd25519(neutral, text, signature));
            Assert.That(cryptography.VerifyEd25519(other, text, signature), Is.False);
            Assert.That(cryptography.VerifyEd25519(Hex.Bytes(new string('0', 62) + "02"), text, signature), Is.False);
            Assert.That(cryptography.VerifyEd25519(new byte[31], text, signature), Is.False);
            Assert.That(cryptography.VerifyEd25519(neutral, text, new byte[63]), Is.False);
            Assert.That(cryptography.VerifyEd25519(null, text, null), Is.False);
        }

        /// <summary>RFC 7748, section 5.2.</summary>
        [TestCase(
            "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
            "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552")]
        [TestCase(
            "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
            "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
            "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957")]
        public void X25519MultipliesAsInRfc7748(string scalar, string point, string product)
        {
            Assert.That(
                Hex.Text(cryptography.X25519(Hex.Bytes(scalar), Hex.Bytes(point))), Is.EqualTo(product));
        }

        /// <summary>RFC 7748, section 5.2: the iteration, and section 6.1: the exchange.</summary>
        [Test]
        public void X25519IteratesAndExchangesAsInRfc7748()
        {
            var k = new byte[32];
            k[0] = 9;
            var u = (byte[])k.Clone();
            for (var i = 1; i <= 1000; i++)
            {
                var next = cryptography.X25519(k, u);
                u = k;
                k = next;
                if (i == 1)
                {
                    Assert.That(
                        Hex.Text(k), Is.EqualTo("422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"));
                }
            }

            Assert.That(Hex.Text(k), Is.EqualTo("684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"));
            var alice = Hex.Bytes("77076d0a7318a57d3c16c17251b26645df4c2f92ebc099c0e58a8cbe1b8dd9f3a".Substring(0, 64));
            Assert.That(cryptography.X25519PublicKey(alice), Has.Length.EqualTo(32));
            Assert.That(cryptography.X25519(alice, new byte[32]), Is.Null);
            var one = new byte[32];
            one[0] = 1;
            Assert.That(cryptography.X25519(alice, one), Is.Null);
        }

        /// <summary>RFC 9180, appendix A.1.1: base mode with this suite.</summary>
        [Test]
        public void HpkeOpensTheVectorOfRfc9180()
        {
            var enc = Hex.Bytes("37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431");
            var privateKey = Hex.Bytes("4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8");
            var publicKey = cryptography.X25519PublicKey(privateKey);
            Assert.That(
                Hex.Text(publicKey), Is.EqualTo("3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d"));
            var shared = Hpke.SharedSecret(cryptography.X25519(privateKey, enc), enc.Concat(publicKey).ToArray());
            Assert.That(
                Hex.Text(shared), Is.EqualTo("fe0e18c9f024ce43799ae393c7e8fe8fce9d218875e8227b0187c04e7d2ea1fc"));
            var info = Hex.Bytes("4f6465206f6e2061204772656369616e2055726e");
            var keys = Hpke.Schedule(shared, info);
            Assert.That(Hex.Text(keys.Key), Is.EqualTo("4531685d41d65f03dc48f6b8302c05b0"));
            Assert.That(Hex.Text(keys.Nonce), Is.EqualTo("56d890e5accaaf011cff4b7d"));
            var aad = Hex.Bytes("436f756e742d30");
            var ct = Hex.Bytes(
                "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a");
            var hpke = new Hpke(cryptography);
            Assert.That(
                Hex.Text(hpke.Open(privateKey, enc, info, aad, ct)),
                Is.EqualTo("4265617574792069732074727574682c20747275746820626561757479"));
            Assert.That(hpke.Open(privateKey, enc, info, new byte[0], ct), Is.Null);
            Assert.That(hpke.Open(privateKey, new byte[32], info, aad, ct), Is.Null);
        }

        /// <summary>"The Galois/Counter Mode of Operation" (McGrew, Viega), test cases 2, 4, 14 and 16.</summary>
        [TestCase("00000000000000000000000000000000", "000000000000000000000000",
            "00000000000000000000000000000000", "", "0388dace60b6a392f328c2b971b2fe78",
            "ab6e47d42cec13bdf53a67b21257bddf")]
        [TestCase("feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
            + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
            "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
            + "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
            "5bc94fbc3221a5db94fae95ae7121a47")]
        [TestCase("0000000000000000000000000000000000000000000000000000000000000000", "000000000000000000000000",
            "00000000000000000000000000000000", "", "cea7403d4d606b6e074ec5d3baf39d18",
            "d0d1c8a799996bf0265b98b5d48ab919")]
        [TestCase("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
            + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
            "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
            + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
            "76fc6ece0f4e1768cddf8853bb2d551b")]
        public void AesGcmOpensTheVectorsOfItsSpecification(
            string key, string nonce, string plain, string aad, string cipher, string tag)
        {
            byte[] k = Hex.Bytes(key), n = Hex.Bytes(nonce), a = Hex.Bytes(aad);
            var box = Hex.Bytes(cipher + tag);
            Assert.That(Hex.Text(cryptography.OpenAesGcm(k, n, box, a)), Is.EqualTo(plain));
            Assert.That(Hex.Text(AesGcm.Seal(k, n, Hex.Bytes(plain), a)), Is.EqualTo(cipher + tag));
            for (var i = 0; i < box.Length; i++)
            {
                var changed = (byte[])box.Clone();
                changed[i] ^= 1;
                Assert.That(cryptography.OpenAesGcm(k, n, changed, a), Is.Null);
            }

            Assert.That(cryptography.OpenAesGcm(k, n, new byte[15], a), Is.Null);
        }

        [Test]
        public void ALongTextIsOpened()
        {
            byte[] key = cryptography.RandomBytes(32), nonce = cryptography.RandomBytes(12);
            var plain = cryptography.RandomBytes((256 << 10) + 7);
            var box = AesGcm.Seal(key, nonce, plain, new byte[0]);
            Assert.That(cryptography.OpenAesGcm(key, nonce, box, new byte[0]), Is.EqualTo(plain));
        }
    }
}
