import Foundations
import Testing

@testable import Authentication

/// A published signature: the key, what was signed, and the signature.
struct SignatureVector: Sendable, CustomStringConvertible {
    let description: String
    let algorithm: SignatureAlgorithm
    let jwk: String
    let signed: String
    let signature: String

    /// The claims that all examples of RFC 7515 but the last sign.
    private static let claims =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    static let hs256 = SignatureVector(
        description: "RFC 7515, A.1", algorithm: .hs256,
        jwk: #"{"kty":"oct","#
            + #""k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"}"#,
        signed: "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." + claims,
        signature: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")

    static let rs256 = SignatureVector(
        description: "RFC 7515, A.2", algorithm: .rs256,
        jwk: #"{"kty":"RSA","e":"AQAB","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-"#
            + "Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-"
            + "bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5"
            + #"IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"}"#,
        signed: "eyJhbGciOiJSUzI1NiJ9." + claims,
        signature:
            "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9"
            + "uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB"
            + "_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rq"
            + "Vt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw")

    static let es256 = SignatureVector(
        description: "RFC 7515, A.3", algorithm: .es256,
        jwk: #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
            + #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#,
        signed: "eyJhbGciOiJFUzI1NiJ9." + claims,
        signature: "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")

    static let ed25519 = SignatureVector(
        description: "RFC 8037, A.4", algorithm: .edDSA,
        jwk: #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
        signed: "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
        signature: "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg")

    static let all = [hs256, rs256, es256, ed25519]
}

struct SignatureVectorTests {
    @Test(arguments: SignatureVector.all)
    func `The vector is valid`(vector: SignatureVector) async throws {
        let key = try VerificationKey(jwk: JSONValue(strict: Array(vector.jwk.utf8)))
        let signature = try #require(Base64.decode(vector.signature, .url))
        #expect(await key.isValid(signature, of: Array(vector.signed.utf8), with: vector.algorithm))
    }

    @Test(arguments: SignatureVector.all)
    func `Any change is noticed`(vector: SignatureVector) async throws {
        let key = try VerificationKey(jwk: JSONValue(strict: Array(vector.jwk.utf8)))
        let signature = try #require(Base64.decode(vector.signature, .url))
        let signed = Array(vector.signed.utf8)
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 1
            #expect(await !key.isValid(changed, of: signed, with: vector.algorithm))
        }
        #expect(await !key.isValid(signature.dropLast(), of: signed, with: vector.algorithm))
        #expect(await !key.isValid(signature + [0], of: signed, with: vector.algorithm))
        #expect(await !key.isValid([], of: signed, with: vector.algorithm))
        #expect(await !key.isValid(signature, of: signed + [0], with: vector.algorithm))
        #expect(await !key.isValid(Array(repeating: 0, count: signature.count), of: signed, with: vector.algorithm))
    }

    @Test(arguments: SignatureVector.all)
    func `No other algorithm is taken`(vector: SignatureVector) async throws {
        let key = try VerificationKey(jwk: JSONValue(strict: Array(vector.jwk.utf8)))
        let signature = try #require(Base64.decode(vector.signature, .url))
        for algorithm in SignatureAlgorithm.allCases where algorithm != vector.algorithm {
            #expect(await !key.isValid(signature, of: Array(vector.signed.utf8), with: algorithm))
        }
    }
}

extension VerificationKey {
    fileprivate func isValid(
        _ signature: ArraySlice<UInt8>, of bytes: [UInt8], with algorithm: SignatureAlgorithm
    ) async -> Bool {
        await isValid(Array(signature), of: bytes, with: algorithm)
    }
}
