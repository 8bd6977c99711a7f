/* TLS by OpenSSL's libraries, loaded where the system has them: applications use these, headers need not be there, and missing ones are a skip.
 *
 * Version 1.3, one cipher suite, a certificate that openssl(1) makes for the launch at the far end, which the client verifies; no session is used again.
 */
#ifndef GRITSTONE_NET_OPENSSL_H
#define GRITSTONE_NET_OPENSSL_H

#include <dlfcn.h>

#include "programs.h"

#define SUITE "TLS_AES_128_GCM_SHA256"

/* Of the application binary interface of OpenSSL 1.1.1 and 3. */
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
	int (*read)(void *tls, void *to, int most), (*write)(void *tls, const void *from, int size);
	int (*reason)(const void *tls, int said);
	int (*is_resumed)(void *tls);
	int (*shut)(void *tls);
	void (*close)(void *tls);
	unsigned long (*error)(void);
	void (*error_text)(unsigned long error, char *to, size_t size);
	const char *(*version)(int what);
} ssl;

/* The functions, by where each is kept. */
static const struct {
	const char *name;
	void *at;
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

static void *common_tls; /* what connections of this end have in common */

/* Loads the libraries; NULL, or what is missing. */
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
		memcpy(functions[i].at, &found, sizeof found);
	}
	return NULL;
}

/* What OpenSSL says of the last failure. */
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
	int well = tls != NULL && ssl.set(tls, SET_MIN_VERSION, TLS_1_3, NULL) == 1 && ssl.set(tls, SET_MAX_VERSION, TLS_1_3, NULL) == 1 &&
		   ssl.set_suites(tls, SUITE) == 1 && ssl.set_tickets(tls, 0) == 1;
	if (well)
		ssl.set(tls, SET_CACHE, CACHE_OFF, NULL);
	return well ? tls : NULL;
}

/* Of the far end: a key and a certificate of this launch alone, which the near end is to trust. */
static inline void make_certificate(struct context *c, char *text, size_t size)
{
	const char *missing = load_openssl();
	if (missing != NULL)
		lacks("%s", missing);
	enter_own_directory();
	const char *const argv[] = {far_program(c, "openssl", "openssl", "openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
				    "-nodes", "-days", "1", "-subj", "/CN=gritstone", "-keyout", "key.pem", "-out", "certificate.pem", NULL};
	if (!runs_well(argv, "openssl.log"))
		complain("openssl makes no certificate: %s", said_in("openssl.log"));
	common_tls = new_context();
	if (common_tls == NULL || ssl.use_certificate(common_tls, "certificate.pem") != 1 || ssl.use_key(common_tls, "key.pem", FILE_IS_PEM) != 1)
		complain("TLS: %s", tls_error());
	read_text("certificate.pem", text, size);
}

/* Of the near end: trusts a certificate, and no other; whether that went well. */
static inline int trust(struct context *c, const char *certificate)
{
	common_tls = new_context();
	if (common_tls != NULL && has_written("certificate.pem", "%s", certificate) && ssl.trust(common_tls, "certificate.pem", NULL) == 1) {
		ssl.verify(common_tls, VERIFY_PEER, NULL);
		return 1;
	}
	failed_because(c, "tls", "%s", tls_error());
	return 0;
}

/* TLS over a connection that has said its token: of either end, after the handshake; NULL where that fails. */
static inline void *with_tls(int s, int (*handshake)(void *))
{
	void *tls = ssl.open(common_tls);
	errno = 0;
	if (tls != NULL && ssl.set_socket(tls, s) == 1 && handshake(tls) == 1)
		return tls;
	if (tls != NULL)
		ssl.close(tls);
	return NULL;
}

/* As recv(2). */
static inline ssize_t take_tls(const void *from, void *to, size_t most)
{
	return ssl.read((void *)(uintptr_t)from, to, (int)most);
}

static inline int takes_all(void *tls, void *to, size_t size)
{
	for (size_t got = 0; got < size;) {
		int n = ssl.read(tls, (char *)to + got, (int)(size - got));
		if (n <= 0)
			return 0;
		got += (size_t)n;
	}
	return 1;
}

/* OpenSSL writes all, or fails. */
static inline int gives_all(void *tls, const void *from, size_t size)
{
	return ssl.write(tls, from, (int)size) == (int)size;
}

#endif
