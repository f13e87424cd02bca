#!/usr/bin/env bash
# Compiles the Android SDK and its example against small stand-ins for the platform, and runs the tests of both. It
# installs nothing: `debian-packages` names what it needs. Arguments are parts of the names of the test classes that
# run. The test vectors are those of ../vectors, or of the folder SECUREPUSH_VECTORS.
set -euo pipefail
cd "$(dirname "$0")"

java=/usr/share/java
libraries=$java/com.android.json.jar
libraries+=:$java/kotlinx-coroutines-core.jar:$java/kotlinx-coroutines-core-common.jar:$java/atomicfu.jar
test_libraries=$java/junit4.jar:$java/hamcrest-core.jar
build=.build
out=$build/classes

# The compiler takes most of the time, so it runs once, for everything, and only after a change.
sources() {
    find src/main/kotlin tests ../../Examples/Android/app/src/main/kotlin -name '*.kt' -o -name '*.java' | LC_ALL=C sort
}
# Kotlin 2 makes default methods of the host's functions, so that Java need not implement them. Kotlin 1.3 does so only
# with an annotation that Kotlin 2 does not know.
host=src/main/kotlin/securepush/android/SecurePushHost.kt
kotlin_sources() {
    sources | grep '\.kt$' | grep -vF "$host"
    sed -E 's/^    (val .* get\(\) =|fun .* =)/    @JvmDefault \1/' "$host" >"$build/SecurePushHost.kt"
    echo "$build/SecurePushHost.kt"
}
digest=$({ sources | xargs cat; cat test.sh; } | sha256sum | cut -d' ' -f1)
if [[ ! -f $build/digest || $(<"$build/digest") != "$digest" ]]; then
    rm -rf "$build"
    mkdir -p "$out"
    begin=$SECONDS
    sources | grep '^tests/standins/.*\.java$' | xargs javac --release 8 -Xlint:-options -nowarn -d "$out"
    echo "javac: $(sources | grep -c '^tests/standins/.*\.java$') stand-ins in $((SECONDS - begin)) s"
    begin=$SECONDS
    # Without the second compiler of the virtual machine, kotlinc needs a third less time.
    kotlin_sources | JAVA_OPTS='-Xmx1g -XX:+UseSerialGC -XX:TieredStopAtLevel=1' xargs kotlinc -no-reflect \
        -jvm-target 1.8 -Xjvm-default=enable -cp "$libraries:$test_libraries:$out" -d "$out" 2> >(grep -v '^OpenJDK .* warning' >&2)
    echo "kotlinc: $(sources | grep -c '\.kt$') files in $((SECONDS - begin)) s"
    # An app in Java, and its tests.
    sources | grep '^tests/java/' | xargs javac --release 8 -Xlint:-options -Werror -d "$out" \
        -cp "$out:$libraries:$test_libraries:$java/kotlin-stdlib.jar"
    echo "$digest" >"$build/digest"
fi

exec java -Xmx512m -cp "$out:$libraries:$test_libraries:$java/kotlin-stdlib.jar" securepush.RunTestsKt "$out" "$@"
