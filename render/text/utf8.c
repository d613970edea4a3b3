/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/text/utf8.h"

size_t utf8_next(const char *start, uint32_t *code_ret)
{
	const unsigned char *text = (const unsigned char *)start;
	/* The least code that needs this number of bytes. */
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t size = text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
	uint32_t code = text[0] & (0x7f >> size);

	if (text[0] < 0x80) {
		*code_ret = text[0];
		return 1;
	}
	if (text[0] < 0xc0 || text[0] >= 0xf8)
		size = 0;
	for (size_t i = 1; i < size; i++) {
		if ((text[i] & 0xc0) != 0x80) {
			size = 0;
			break;
		}
		code = code << 6 | (text[i] & 0x3f);
	}
	/* Halves of surrogate pairs and codes beyond the last are no characters either. */
	if (!size || code < least[size] || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) {
		*code_ret = UTF8_BROKEN;
		return 1;
	}
	*code_ret = code;
	return size;
}

bool utf8_is_printable(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} hidden[] = {
		{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},       {0x61c, 0x61c},
		{0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},
		{0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}, {0x110000, UTF8_BROKEN},
	};

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]) && code >= hidden[i].first; i++)
		if (code <= hidden[i].last)
			return false;
	return true;
}

size_t utf8_put(FILE *out, const char *text)
{
	uint32_t code;
	size_t size = utf8_next(text, &code);

	if (utf8_is_printable(code))
		fwrite(text, 1, size, out);
	else
		fputc('?', out);
	return size;
}
