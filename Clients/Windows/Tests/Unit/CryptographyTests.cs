using System.Linq;
using System.Text;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>
    /// What the SDK makes of the platform's algorithms, by the vectors of their standards. The platform is OpenSSL.
    /// </summary>
    [TestFixture]
    public sealed class CryptographyTests
    {
        private readonly LibCrypto cryptography = new LibCrypto();

        /// <summary>RFC 6979, appendix A.2.5: SHA-256, "sample" and "test".</summary>
        [TestCase("sample", "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
            + "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8")]
        [TestCase("test", "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367"
            + "019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083")]
        public void Es256VerifiesTheVectorsOfRfc6979(string message, string signature)
        {
            var key = Hex.Bytes(
                "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
                + "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299");
            byte[] text = Encoding.ASCII.GetBytes(message), signed = Hex.Bytes(signature);
            Assert.That(cryptography.Verify(key, text, signed));
            for (var i = 0; i < 64; i++)
            {
                var forged = (byte[])signed.Clone();
                forged[i] ^= (byte)(1 << (i % 8));
                Assert.That(cryptography.Verify(key, text, forged), Is.False, "byte " + i);
            }

            Assert.That(cryptography.Verify(key, text.Concat(new byte[1]).ToArray(), signed), Is.False);
            Assert.That(cryptography.Verify(key, text, signed.Take(63).ToArray()), Is.False);
            Assert.That(cryptography.Verify(key.Take(64).ToArray(), text, signed), Is.False);
            Assert.That(cryptography.Verify(null, text, null), Is.False);
        }

        /// <summary>RFC 5903, section 8.1: the exchange.</summary>
        [Test]
        public void TheExchangeIsTheOneOfRfc5903()
        {
            var mine = LibCrypto.Pair(Hex.Bytes("c88f01f510d9ac3f70a292daa2316de544e9aab8afe84049c62a9c57862d1433"));
            var other = LibCrypto.Pair(Hex.Bytes("c6ef9c5d78ae012a011164acb397ce2088685d8f06bf9be0b283ab46476bee53"));
            Assert.That(
                Hex.Text(mine.PublicKey), Is.EqualTo(
                    "04dad0b65394221cf9b051e1feca5787d098dfe637fc90b9ef945d0c3772581180"
                    + "5271a0461cdb8252d61f1c456fa3e59ab1f45b33accf5f58389e0577b8990bb3"));
            const string shared = "d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de";
            Assert.That(
                Hex.Text(cryptography.AgreeAsync(mine.PrivateKey, other.PublicKey).Result), Is.EqualTo(shared));
            Assert.That(
                Hex.Text(cryptography.AgreeAsync(other.PrivateKey, mine.PublicKey).Result), Is.EqualTo(shared));
            Assert.That(cryptography.AgreeAsync(mine.PrivateKey, new byte[65]).Result, Is.Null);
            var changed = (byte[])other.PublicKey.Clone();
            changed[64] ^= 1;
            Assert.That(cryptography.IsPublicKey(changed), Is.False);
            Assert.That(cryptography.AgreeAsync(mine.PrivateKey, changed).Result, Is.Null);
        }

        /// <summary>RFC 9180, appendix A.3.1: base mode with this suite.</summary>
        [Test]
        public void HpkeOpensTheVectorOfRfc9180()
        {
            var enc = Hex.Bytes(
                "04a92719c6195d5085104f469a8b9814d5838ff72b60501e2c4466e5e67b325ac98536d7b61a1af4b78e5b7f951c0900be86"
                + "3c403ce65c9bfcb9382657222d18c4");
            var pair = LibCrypto.Pair(Hex.Bytes("f3ce7fdae57e1a310d87f1ebbde6f328be0a99cdbcadf4d6589cf29de4b8ffd2"));
            Assert.That(
                Hex.Text(pair.PublicKey), Is.EqualTo(
                    "04fe8c19ce0905191ebc298a9245792531f26f0cece2460639e8bc39cb7f706a826a779b4cf969b8a0e539c7f62fb3d30a"
                    + "d6aa8f80e30f1d128aafd68a2ce72ea0"));
            var shared = Hpke.SharedSecret(
                cryptography.AgreeAsync(pair.PrivateKey, enc).Result, enc.Concat(pair.PublicKey).ToArray());
            Assert.That(
                Hex.Text(shared), Is.EqualTo("c0d26aeab536609a572b07695d933b589dcf363ff9d93c93adea537aeabb8cb8"));
            var info = Hex.Bytes("4f6465206f6e2061204772656369616e2055726e");
            var keys = Hpke.Schedule(shared, info);
            Assert.That(Hex.Text(keys.Key), Is.EqualTo("868c066ef58aae6dc589b6cfdd18f97e"));
            Assert.That(Hex.Text(keys.Nonce), Is.EqualTo("4e0bc5018beba4bf004cca59"));
            var aad = Hex.Bytes("436f756e742d30");
            var ct = Hex.Bytes(
                "5ad590bb8baa577f8619db35a36311226a896e7342a6d836d8b7bcd2f20b6c7f9076ac232e3ab2523f39513434");
            var hpke = new Hpke(cryptography);
            Assert.That(
                Hex.Text(hpke.OpenAsync(pair, enc, info, aad, ct).Result),
                Is.EqualTo("4265617574792069732074727574682c20747275746820626561757479"));
            Assert.That(hpke.OpenAsync(pair, enc, info, new byte[0], ct).Result, Is.Null);
            Assert.That(hpke.OpenAsync(pair, new byte[65], info, aad, ct).Result, Is.Null);
        }

        /// <summary>RFC 7638 has no vector for P-256; this is the key of RFC 7515, appendix A.3.1.</summary>
        [Test]
        public void AFingerprintIsTheBeginningOfTheThumbprint()
        {
            var jwk = Encoding.ASCII.GetBytes(
                "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
                + "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}");
            var key = PublicKey.FromJwk(JsonValue.Parse(jwk).Members());
            Assert.That(key.Id, Is.EqualTo("oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U"));
            Assert.That(PublicKey.Fingerprint(key.Point), Is.EqualTo("a0a2 32c2 f194 a535 53cb 1310 ddbc 0821"));
            Assert.That(cryptography.IsPublicKey(key.Point));
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
            Assert.That(Hex.Text(LibCrypto.SealAesGcm(k, n, Hex.Bytes(plain), a)), Is.EqualTo(cipher + tag));
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
            byte[] key = LibCrypto.RandomBytes(32), nonce = LibCrypto.RandomBytes(12);
            var plain = LibCrypto.RandomBytes((256 << 10) + 7);
            var box = LibCrypto.SealAesGcm(key, nonce, plain, new byte[0]);
            Assert.That(cryptography.OpenAesGcm(key, nonce, box, new byte[0]), Is.EqualTo(plain));
        }
    }
}
