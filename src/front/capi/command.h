/*
 * mk_command: a command from a format, as redisCommand of hiredis takes it. Spaces part the words; quotes mean nothing; what a
 * conversion gives joins the word that it stands in, spaces and all, so "SET key:%s %b" has three words.
 *
 *     %s                            a text up to its NUL: const char *
 *     %b                            bytes: const void * and size_t
 *     %d %i                         signed int; with hh h l ll z j t before it what printf takes there
 *     %u %o %x %X                   unsigned int; with the same
 *     %f %F %e %E %g %G %a %A       double
 *     %%                            a percent sign
 *
 * Numbers take flags (# 0 - + and space), a width and a precision of up to three digits each, as in %05d or %.17g; * is not
 * taken. Anything else fails with MK_ERR_USAGE, and nothing runs. The reply is that of mk_call.
 *
 *     mk_reply *reply = mk_command(client, "SET lock:%s %b NX PX %d", name, token, token_length, 5000);
 *
 * Names that end in an underscore are no part of the interface.
 */

/* The longest word: as of mk_call. */
#define MK_WORD_MAX_ ((size_t)512 << 20)

/* All words of a command one behind the other, and where each ends. */
typedef struct mk_words_ {
    char *bytes;
    size_t used;
    size_t room;
    size_t *ends;
    size_t count;
    size_t slots;
    int is_open;
} mk_words_;

/* Makes room for more; 0 when there is no memory. */
static inline int mk_grow_(void **block, size_t size, size_t used, size_t more, size_t *room) {
    size_t wanted = *room < 64 ? 64 : *room;
    void *grown;
    if (more <= *room - used) {
        return 1;
    }
    while (wanted - used < more) {
        if (wanted > (size_t)-1 / 2 / size) {
            return 0;
        }
        wanted *= 2;
    }
    grown = realloc(*block, wanted * size);
    if (grown == NULL) {
        return 0;
    }
    *block = grown;
    *room = wanted;
    return 1;
}

static inline int mk_put_(mk_words_ *words, const void *bytes, size_t length) {
    void *block = words->bytes;
    if (!mk_grow_(&block, 1, words->used, length + 1, &words->room)) {
        return 0;
    }
    words->bytes = (char *)block;
    if (length > 0) {
        memcpy(words->bytes + words->used, bytes, length);
    }
    words->used += length;
    words->is_open = 1;
    return 1;
}

static inline int mk_end_word_(mk_words_ *words) {
    void *block = words->ends;
    if (!words->is_open) {
        return 1;
    }
    if (!mk_grow_(&block, sizeof(size_t), words->count, 1, &words->slots)) {
        return 0;
    }
    words->ends = (size_t *)block;
    words->ends[words->count++] = words->used;
    words->is_open = 0;
    return 1;
}

/* How many of up to three decimal digits stand there. */
static inline size_t mk_digits_(const char *at) {
    size_t count = 0;
    while (count < 3 && at[count] >= '0' && at[count] <= '9') {
        count++;
    }
    return count;
}

static inline long long mk_signed_(const char *size, va_list *args) {
    if (strcmp(size, "hh") == 0) return (signed char)va_arg(*args, int);
    if (strcmp(size, "h") == 0) return (short)va_arg(*args, int);
    if (strcmp(size, "l") == 0) return va_arg(*args, long);
    if (strcmp(size, "ll") == 0) return va_arg(*args, long long);
    if (strcmp(size, "j") == 0) return (long long)va_arg(*args, intmax_t);
    if (strcmp(size, "z") == 0) return (long long)va_arg(*args, ptrdiff_t);
    if (strcmp(size, "t") == 0) return (long long)va_arg(*args, ptrdiff_t);
    return va_arg(*args, int);
}

static inline unsigned long long mk_unsigned_(const char *size, va_list *args) {
    if (strcmp(size, "hh") == 0) return (unsigned char)va_arg(*args, unsigned int);
    if (strcmp(size, "h") == 0) return (unsigned short)va_arg(*args, unsigned int);
    if (strcmp(size, "l") == 0) return va_arg(*args, unsigned long);
    if (strcmp(size, "ll") == 0) return va_arg(*args, unsigned long long);
    if (strcmp(size, "j") == 0) return (unsigned long long)va_arg(*args, uintmax_t);
    if (strcmp(size, "z") == 0) return (unsigned long long)va_arg(*args, size_t);
    if (strcmp(size, "t") == 0) return (unsigned long long)va_arg(*args, size_t);
    return va_arg(*args, unsigned int);
}

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#endif

/* Writes a number as printf does. `at` stands behind the percent sign; gives where the conversion ends, or NULL when it is
   none. `*has_room` is 0 when there was no memory. */
static inline const char *mk_number_(mk_words_ *words, const char *at, va_list *args, int *has_room) {
    char spec[32] = "%";
    char size[3] = "";
    char text[1536]; /* the longest is a double of 309 digits before and 999 behind its point */
    size_t length = 1;
    size_t count = strspn(at, "#0-+ ");
    int written = 0;
    if (count > 5) {
        return NULL;
    }
    count += mk_digits_(at + count);
    if (at[count] == '.') {
        count++;
        count += mk_digits_(at + count);
    }
    memcpy(spec + length, at, count);
    length += count;
    at += count;
    count = strspn(at, "hlzjt");
    if (count > 2 || (count == 2 && strncmp(at, "hh", 2) != 0 && strncmp(at, "ll", 2) != 0)) {
        return NULL;
    }
    memcpy(size, at, count);
    at += count;
    if (*at != '\0' && strchr("diouxX", *at) != NULL) {
        spec[length++] = 'l';
        spec[length++] = 'l';
        spec[length] = *at;
        written = *at == 'd' || *at == 'i' ? snprintf(text, sizeof text, spec, mk_signed_(size, args))
                                           : snprintf(text, sizeof text, spec, mk_unsigned_(size, args));
    } else if (*at != '\0' && size[0] == '\0' && strchr("fFeEgGaA", *at) != NULL) {
        spec[length] = *at;
        written = snprintf(text, sizeof text, spec, va_arg(*args, double));
    } else {
        return NULL;
    }
    if (written < 0 || (size_t)written >= sizeof text) {
        return NULL;
    }
    *has_room = mk_put_(words, text, (size_t)written);
    return at + 1;
}

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/* Splits a format into words; 0 when that fails, which is noted. */
static inline int mk_format_(mk_words_ *words, const char *format, va_list *args) {
    char told[160];
    const char *at = format;
    int has_room = 1;
    while (*at != '\0' && has_room) {
        const char *start = at++;
        if (*start == ' ') {
            has_room = mk_end_word_(words);
        } else if (*start != '%') {
            has_room = mk_put_(words, start, 1);
        } else if (*at == '%') {
            has_room = mk_put_(words, at++, 1);
        } else if (*at == 's' || *at == 'b') {
            const char *bytes = va_arg(*args, const char *);
            size_t length = *at == 'b' ? va_arg(*args, size_t) : bytes == NULL ? 0 : strlen(bytes);
            if (bytes == NULL && (*at == 's' || length > 0)) {
                snprintf(told, sizeof told, "the argument of %%%c is NULL", *at);
                mk_note_error(MK_ERR_NULL, told);
                return 0;
            }
            if (length > MK_WORD_MAX_) {
                snprintf(told, sizeof told, "the length of %%%c is %zu; a word has at most %zu bytes", *at, length,
                         MK_WORD_MAX_);
                mk_note_error(MK_ERR_USAGE, told);
                return 0;
            }
            at++;
            has_room = mk_put_(words, bytes, length);
        } else {
            at = mk_number_(words, at, args, &has_room);
            if (at == NULL) {
                snprintf(told, sizeof told,
                         "\"%.20s\" is no conversion; taken are %%s, %%b, %%%%, %%d %%i %%u %%o %%x %%X, %%f %%F %%e "
                         "%%E %%g %%G %%a %%A",
                         start);
                mk_note_error(MK_ERR_USAGE, told);
                return 0;
            }
        }
    }
    if (!has_room || !mk_end_word_(words)) {
        mk_note_error(MK_ERR_USAGE, "there is no memory for the words of the command");
        return 0;
    }
    return 1;
}

/* Calls with the words of a format. */
static inline mk_reply *mk_call_words_(mk_client *client, const mk_words_ *words) {
    size_t count = words->count;
    const char **argv = (const char **)malloc((count + 1) * sizeof(const char *));
    size_t *argvlen = (size_t *)malloc((count + 1) * sizeof(size_t));
    mk_reply *reply = NULL;
    if (argv == NULL || argvlen == NULL || count > 0x7fffffff) {
        mk_note_error(MK_ERR_USAGE, "there is no memory for the words of the command");
    } else {
        size_t start = 0;
        size_t index;
        for (index = 0; index < count; index++) {
            argv[index] = words->bytes + start;
            argvlen[index] = words->ends[index] - start;
            start = words->ends[index];
        }
        reply = mk_call(client, (int)count, argv, argvlen);
    }
    free(argv);
    free(argvlen);
    return reply;
}

/** As `mk_command`, with its arguments as a list, which is as it was afterwards. */
static inline mk_reply *mk_vcommand(mk_client *client, const char *format, va_list args) {
    mk_reply *reply = NULL;
    mk_words_ words;
    va_list own;
    memset(&words, 0, sizeof words);
    if (format == NULL) {
        mk_note_error(MK_ERR_NULL, "format is NULL");
        return NULL;
    }
    va_copy(own, args);
    if (mk_format_(&words, format, &own)) {
        reply = mk_call_words_(client, &words);
    }
    va_end(own);
    free(words.bytes);
    free(words.ends);
    return reply;
}

/**
 * Runs a command that is given as a format, as redisCommand of hiredis does: see above. Gives the reply, owned by the caller:
 * `mk_reply_free`. NULL on failure.
 */
static inline mk_reply *mk_command(mk_client *client, const char *format, ...) {
    mk_reply *reply;
    va_list args;
    va_start(args, format);
    reply = mk_vcommand(client, format, args);
    va_end(args);
    return reply;
}
