/* TLS by OpenSSL's shared libraries, loaded by dlopen(3), since applications use these: no headers are needed, and a missing library is a
 * skip.
 *
 * TLS 1.3, one cipher suite, no session resumption. The server creates a certificate for the launch by openssl(1); the client verifies it.
 */
#ifndef GRITSTONE_NET_OPENSSL_H
#define GRITSTONE_NET_OPENSSL_H

#include <dlfcn.h>

#include "programs.h"

#define SUITE "TLS_AES_128_GCM_SHA256"

/* Constants of the ABI of OpenSSL 1.1.1 and 3. */
enum { SET_MIN_VERSION = 123, SET_MAX_VERSION = 124, TLS_1_3 = 0x304, FILE_IS_PEM = 1, VERIFY_PEER = 1, CACHE_OFF = 0, SET_CACHE = 44, TLS_CLOSED = 6 };

static struct {
	const void *(*method)(void);
	void *(*new_context)(const void *method);
	long (*set)(void *context, int what, long value, void *more);
	int (*set_suites)(void *context, const char *suites);
	int (*set_tickets)(void *context, size_t number);
	int (*use_certificate)(void *context, const char *file);
	int (*use_key)(void *context, const char *file, int type);
	int (*trust)(void *context, const char *file, const char *directory);
	void (*verify)(void *context, int mode, void *callback);
	void *(*open)(void *context);
	int (*set_socket)(void *tls, int socket);
	int (*connect)(void *tls), (*accept)(void *tls);
	int (*read)(void *tls, void *to, int max), (*write)(void *tls, const void *from, int size);
	int (*reason)(const void *tls, int result);
	int (*is_resumed)(void *tls);
	int (*shut)(void *tls);
	void (*close)(void *tls);
	unsigned long (*error)(void);
	void (*error_text)(unsigned long error, char *to, size_t size);
	const char *(*version)(int what);
} ssl;

/* Symbols to resolve, with their slots. */
static const struct {
	const char *name;
	void *slot;
} functions[] = {
	{"TLS_method", &ssl.method},
	{"SSL_CTX_new", &ssl.new_context},
	{"SSL_CTX_ctrl", &ssl.set},
	{"SSL_CTX_set_ciphersuites", &ssl.set_suites},
	{"SSL_CTX_set_num_tickets", &ssl.set_tickets},
	{"SSL_CTX_use_certificate_chain_file", &ssl.use_certificate},
	{"SSL_CTX_use_PrivateKey_file", &ssl.use_key},
	{"SSL_CTX_load_verify_locations", &ssl.trust},
	{"SSL_CTX_set_verify", &ssl.verify},
	{"SSL_new", &ssl.open},
	{"SSL_set_fd", &ssl.set_socket},
	{"SSL_connect", &ssl.connect},
	{"SSL_accept", &ssl.accept},
	{"SSL_read", &ssl.read},
	{"SSL_write", &ssl.write},
	{"SSL_get_error", &ssl.reason},
	{"SSL_session_reused", &ssl.is_resumed},
	{"SSL_shutdown", &ssl.shut},
	{"SSL_free", &ssl.close},
	{"ERR_get_error", &ssl.error},
	{"ERR_error_string_n", &ssl.error_text},
	{"OpenSSL_version", &ssl.version},
};

static void *tls_context; /* SSL_CTX of this side */

/* Returns NULL, or a message naming what is missing. */
static inline const char *load_openssl(void)
{
	static const char *const names[] = {"libssl.so.3", "libssl.so.1.1"};
	static char missing[128];
	void *library = NULL;
	for (int i = 0; i < 2 && library == NULL; i++)
		library = dlopen(names[i], RTLD_NOW);
	if (library == NULL)
		return "libssl.so.3 is missing (apt-get install libssl3)";
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		void *found = dlsym(library, functions[i].name);
		if (found == NULL) {
			snprintf(missing, sizeof missing, "the libssl that is installed has no %s: OpenSSL 1.1.1 or later is needed (apt-get install libssl3)",
				 functions[i].name);
			return missing;
		}
		memcpy(functions[i].slot, &found, sizeof found);
	}
	return NULL;
}

static inline const char *tls_error(void)
{
	static char text[160];
	unsigned long error = ssl.error();
	if (error == 0)
		return errno == 0 ? "closed" : strerror(errno);
	ssl.error_text(error, text, sizeof text);
	return text;
}

static inline void *new_context(void)
{
	void *tls = ssl.new_context(ssl.method());
	int ok = tls != NULL && ssl.set(tls, SET_MIN_VERSION, TLS_1_3, NULL) == 1 && ssl.set(tls, SET_MAX_VERSION, TLS_1_3, NULL) == 1 &&
		   ssl.set_suites(tls, SUITE) == 1 && ssl.set_tickets(tls, 0) == 1;
	if (ok)
		ssl.set(tls, SET_CACHE, CACHE_OFF, NULL);
	return ok ? tls : NULL;
}

/* Server: creates a key and a certificate for this launch; the certificate goes to the client as text. */
static inline void make_certificate(struct context *c, char *text, size_t size)
{
	const char *missing = load_openssl();
	if (missing != NULL)
		server_skip("%s", missing);
	enter_server_directory();
	const char *const argv[] = {server_program(c, "openssl", "openssl", "openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
				    "-nodes", "-days", "1", "-subj", "/CN=gritstone", "-keyout", "key.pem", "-out", "certificate.pem", NULL};
	if (!run_program(argv, "openssl.log"))
		server_fail("openssl cannot create a certificate: %s", log_tail("openssl.log"));
	tls_context = new_context();
	if (tls_context == NULL || ssl.use_certificate(tls_context, "certificate.pem") != 1 || ssl.use_key(tls_context, "key.pem", FILE_IS_PEM) != 1)
		server_fail("TLS: %s", tls_error());
	read_text("certificate.pem", text, size);
}

/* Client: trusts this certificate alone. Returns 0 on failure. */
static inline int trust(struct context *c, const char *certificate)
{
	tls_context = new_context();
	if (tls_context != NULL && write_text_file("certificate.pem", "%s", certificate) && ssl.trust(tls_context, "certificate.pem", NULL) == 1) {
		ssl.verify(tls_context, VERIFY_PEER, NULL);
		return 1;
	}
	failed_because(c, "tls", "%s", tls_error());
	return 0;
}

/* Handshake on a connection whose token was checked. Returns NULL on failure. */
static inline void *tls_handshake(int s, int (*handshake)(void *))
{
	void *tls = ssl.open(tls_context);
	errno = 0;
	if (tls != NULL && ssl.set_socket(tls, s) == 1 && handshake(tls) == 1)
		return tls;
	if (tls != NULL)
		ssl.close(tls);
	return NULL;
}

static inline ssize_t tls_recv(const void *from, void *to, size_t max)
{
	return ssl.read((void *)(uintptr_t)from, to, (int)max);
}

static inline int tls_recv_all(void *tls, void *to, size_t size)
{
	for (size_t got = 0; got < size;) {
		int n = ssl.read(tls, (char *)to + got, (int)(size - got));
		if (n <= 0)
			return 0;
		got += (size_t)n;
	}
	return 1;
}

/* SSL_write never writes a part. */
static inline int tls_send_all(void *tls, const void *from, size_t size)
{
	return ssl.write(tls, from, (int)size) == (int)size;
}

#endif
