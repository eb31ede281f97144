#!/usr/bin/env python3
"""Makes Tests/SignalboxMediaTests/Fixtures/kinds: small files of each kind, each with its expected properties.

Needs ffmpeg and ffprobe on the PATH, and Pillow. The expectations are independent of the gateway: kinds, MIME types and
extensions are listed here; sizes and durations come from ffprobe, Pillow or the input. The files are checked in; run
this only to add to them: make-media.py FOLDER
"""

import gzip
import io
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import wave
import zipfile

from PIL import Image

ROOT = pathlib.Path(sys.argv[1])
TYPES = {
    "png": ("image/png", "image", "png"), "jpeg": ("image/jpeg", "image", "jpg"), "gif": ("image/gif", "image", "gif"),
    "webp": ("image/webp", "image", "webp"), "avif": ("image/avif", "image", "avif"),
    "heic": ("image/heic", "image", "heic"),
    "aiff": ("audio/aiff", "audio", "aiff"), "wav": ("audio/wav", "audio", "wav"), "mp3": ("audio/mpeg", "audio", "mp3"),
    "m4a": ("audio/mp4", "audio", "m4a"), "mp4": ("video/mp4", "video", "mp4"), "mpeg": ("video/mpeg", "video", "mpg"),
    "mpeg2": ("video/mpeg2", "video", "m2v"), "transportStream": ("video/mp2t", "video", "ts"),
    "quicktime": ("video/quicktime", "video", "mov"), "avi": ("video/x-msvideo", "video", "avi"),
    "calendar": ("text/calendar", None, "ics"), "html": ("text/html", None, "html"),
    "svg": ("image/svg+xml", None, "svg"), "xml": ("application/xml", None, "xml"),
    "pdf": ("application/pdf", None, "pdf"), "executable": ("application/octet-stream", None, "bin"),
    "archive": ("application/octet-stream", None, "bin"), "other": ("application/octet-stream", None, "bin"),
}


def keep(kind, name, data, width=None, height=None, ms=None):
    folder = ROOT / kind
    folder.mkdir(parents=True, exist_ok=True)
    data = data.encode() if isinstance(data, str) else data
    assert len(data) < 20000, (kind, name, len(data))
    (folder / name).write_bytes(data)
    mime, family, extension = TYPES[kind]
    expected = {"contentType": mime, "family": family, "extension": extension, "width": width, "height": height,
                "milliseconds": ms}
    expected = {k: v for k, v in expected.items() if v is not None}
    (folder / (name + ".expected.json")).write_text(json.dumps(expected, indent=2) + "\n")


def ffmpeg(name, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / name
        subprocess.run(["ffmpeg", "-v", "error", *arguments, "-fflags", "+bitexact", "-flags", "+bitexact", str(path)],
                       check=True)
        return path.read_bytes()


def probe(data, *wanted):
    """A value that ffprobe tells: the path of it in its answer."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        out = subprocess.run(["ffprobe", "-v", "error", "-of", "json", "-show_format", "-show_streams", "-count_packets",
                              file.name], check=True, capture_output=True).stdout
    value = json.loads(out)
    for step in wanted:
        value = value[step]
    return value


def picture(width, height, mode="RGB"):
    image = Image.new("RGB", (width, height))
    image.putdata([(x * 5 % 256, y * 7 % 256, 90) for y in range(height) for x in range(width)])
    return image.convert(mode)


def saved(image, format, **options):
    out = io.BytesIO()
    image.save(out, format, **options)
    return out.getvalue()


def pictures():
    def both(kind, name, image, format, **options):
        data = saved(image, format, **options)
        with Image.open(io.BytesIO(data)) as read:
            keep(kind, name, data, *read.size)

    both("png", "rgb.png", picture(40, 30), "PNG")
    both("png", "one-pixel.png", picture(1, 1, "L"), "PNG")
    both("png", "palette.png", picture(300, 2, "P"), "PNG")
    both("png", "animated.png", picture(9, 8), "PNG", save_all=True, append_images=[picture(9, 8).rotate(180)])
    both("jpeg", "baseline.jpg", picture(64, 48), "JPEG")
    both("jpeg", "progressive.jpg", picture(33, 17), "JPEG", progressive=True)
    both("jpeg", "grey.jpg", picture(5, 700, "L"), "JPEG", quality=20)
    both("jpeg", "cmyk.jpg", picture(20, 10, "CMYK"), "JPEG")
    both("jpeg", "with-profile.jpg", picture(31, 41), "JPEG", icc_profile=bytes(8000), comment=b"a comment")
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by 90 degrees
    both("jpeg", "turned.jpg", picture(50, 25), "JPEG", exif=exif)
    # The Exif block holds a thumbnail with a frame header of its own.
    thumbnail = b"Exif\0\0" + saved(picture(8, 6), "JPEG")
    both("jpeg", "with-thumbnail.jpg", picture(80, 60), "JPEG", exif=thumbnail)
    both("gif", "still.gif", picture(21, 12, "P"), "GIF")
    both("gif", "moving.gif", picture(16, 24, "P"), "GIF", save_all=True, duration=100,
         append_images=[picture(16, 24, "P").rotate(180)])
    both("webp", "lossy.webp", picture(64, 40), "WEBP")
    both("webp", "lossless.webp", picture(17, 90), "WEBP", lossless=True)
    transparent = picture(24, 18, "RGBA")
    transparent.putalpha(100)
    both("webp", "transparent.webp", transparent, "WEBP")
    both("webp", "moving.webp", picture(12, 13), "WEBP", save_all=True, append_images=[picture(12, 13).rotate(180)])
    source = ["-f", "lavfi", "-i", "testsrc=size=32x24:rate=1", "-frames:v", "1"]
    keep("avif", "still.avif", ffmpeg("a.avif", *source, "-c:v", "libaom-av1", "-still-picture", "1"))
    box = lambda name, content: struct.pack(">I", len(content) + 8) + name + content
    meta = box(b"meta", bytes(4) + box(b"hdlr", bytes(8) + b"pict" + bytes(13)))
    keep("heic", "brand.heic", box(b"ftyp", b"heic" + bytes(4) + b"mif1heic") + meta)
    keep("heic", "general-brand.heic", box(b"ftyp", b"mif1" + bytes(4) + b"mif1heic") + meta)
    keep("avif", "general-brand.avif", box(b"ftyp", b"mif1" + bytes(4) + b"mif1avifmiaf") + meta)


def tone(seconds, rate=8000):
    return ["-f", "lavfi", "-i", f"sine=frequency=440:sample_rate={rate}:duration={seconds}"]


def sounds():
    def exact(kind, name, data):
        keep(kind, name, data, ms=round(float(probe(data, "format", "duration")) * 1000))

    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(2), file.setsampwidth(2), file.setframerate(8000)
        file.writeframes(bytes(4 * 2100))
    keep("wav", "stereo.wav", out.getvalue(), ms=263)  # 262.5
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1), file.setsampwidth(1), file.setframerate(11025)
        file.writeframes(bytes(11025))
    keep("wav", "one-second.wav", out.getvalue(), ms=1000)
    exact("wav", "with-tags.wav", ffmpeg("a.wav", *tone(0.3), "-metadata", "title=A title"))
    exact("wav", "adpcm.wav", ffmpeg("a.wav", *tone(1.5), "-c:a", "adpcm_ms"))
    exact("wav", "extensible.wav", ffmpeg("a.wav", *tone(0.25), "-c:a", "pcm_s24le"))
    streamed = bytearray(ffmpeg("a.wav", *tone(0.4), "-map_metadata", "-1"))
    streamed[4:8] = streamed[40:44] = b"\xff" * 4
    assert streamed[36:40] == b"data"
    keep("wav", "of-unknown-length.wav", bytes(streamed), ms=400)
    exact("aiff", "plain.aiff", ffmpeg("a.aiff", *tone(0.75)))
    exact("aiff", "high-rate.aiff", ffmpeg("a.aiff", *tone(0.05, 44100), "-ac", "2"))
    exact("aiff", "little-endian.aifc", ffmpeg("a.aiff", *tone(0.5), "-c:a", "pcm_mulaw"))

    def mp3(name, data, packets=None):
        stream = probe(data, "streams", 0)
        rate = int(stream["sample_rate"])
        frames = packets or int(stream["nb_read_packets"])
        keep("mp3", name, data, ms=round(frames * (1152 if rate >= 32000 else 576) / rate * 1000))

    lame = ["-c:a", "libmp3lame"]
    bare = ["-write_xing", "0", "-id3v2_version", "0"]
    mp3("constant.mp3", ffmpeg("a.mp3", *tone(0.5, 44100), *lame, "-b:a", "64k", *bare))
    mp3("constant-tagged.mp3", ffmpeg("a.mp3", *tone(0.7, 44100), *lame, "-b:a", "48k", "-write_xing", "0",
                                      "-write_id3v1", "1", "-metadata", "title=A title"))
    mp3("with-info.mp3", ffmpeg("a.mp3", *tone(0.5, 44100), *lame, "-b:a", "64k"))
    mp3("variable.mp3", ffmpeg("a.mp3", *tone(1, 44100), *lame, "-q:a", "7"))
    mp3("mpeg-2.mp3", ffmpeg("a.mp3", *tone(1, 22050), *lame, "-b:a", "32k", *bare))
    mp3("mpeg-2.5.mp3", ffmpeg("a.mp3", *tone(1.2, 8000), *lame, "-b:a", "16k"))
    mp3("stereo.mp3", ffmpeg("a.mp3", *tone(0.4, 48000), "-ac", "2", *lame, "-b:a", "96k"))
    frames = ffmpeg("a.mp3", *tone(0.5, 44100), *lame, "-b:a", "64k", *bare)
    count = int(probe(frames, "streams", 0, "nb_read_packets"))
    # Fraunhofer's encoder writes a first frame of silence with its own header, 32 bytes after the frame's header.
    first = frames[:4] + bytes(32) + b"VBRI" + struct.pack(">HHHIIHHHH", 1, 0, 75, len(frames), count, 0, 1, 2, 1)
    mp3("vbri.mp3", first.ljust(208, b"\0") + frames, packets=count)
    variable = ffmpeg("a.mp3", "-f", "lavfi", "-i", "aevalsrc=random(0)*floor(t*4):s=44100:d=0.6", *lame, "-q:a", "6", *bare)
    keep("mp3", "variable-without-header.mp3", variable)
    # A large tag, as one with a picture: the frames are beyond the first bytes.
    tag = b"ID3\x03\0\0" + bytes([0, 0, 0x2E, 0x60]) + b"APIC" + bytes(6000 - 4 - 16)
    tag = tag.ljust(10 + (0x2E << 7 | 0x60), b"\0")
    mp3("large-tag.mp3", tag + frames, packets=count)

    exact("m4a", "index-at-the-end.m4a", ffmpeg("a.m4a", *tone(0.5), "-c:a", "aac", "-b:a", "24k"))
    exact("m4a", "index-first.m4a", ffmpeg("a.m4a", *tone(2), "-c:a", "aac", "-b:a", "12k", "-movflags", "+faststart"))


def films():
    def exact(kind, name, data, time=True):
        stream = next(s for s in probe(data, "streams") if s["codec_type"] == "video")
        keep(kind, name, data, stream["width"], stream["height"],
             round(float(probe(data, "format", "duration")) * 1000) if time else None)

    def pattern(size="48x32", seconds=0.5, rate=10):
        return ["-f", "lavfi", "-i", f"testsrc=size={size}:rate={rate}:duration={seconds}", "-pix_fmt", "yuv420p"]

    h264 = ["-c:v", "libx264", "-crf", "45", "-preset", "fast"]
    exact("mp4", "index-at-the-end.mp4", ffmpeg("a.mp4", *pattern(), *h264))
    exact("mp4", "index-first.mp4", ffmpeg("a.mp4", *pattern("64x36", 1), *h264, "-movflags", "+faststart"))
    sound = ffmpeg("a.mp4", *tone(0.5), *pattern("32x64", 0.5)[:4], "-pix_fmt", "yuv420p", *h264, "-c:a", "aac", "-b:a",
                   "12k", "-map", "0:a", "-map", "1:v")
    exact("mp4", "sound-track-first.mp4", sound)
    turned = ffmpeg("a.mp4", *pattern("48x32", 0.3), *h264)
    place = turned.index(b"tkhd") + 4 + 40
    quarter = struct.pack(">9i", 0, 0x10000, 0, -0x10000, 0, 0, 0, 0, 0x40000000)
    keep("mp4", "turned.mp4", turned[:place] + quarter + turned[place + 36:], 48, 32, 300)
    fragments = ffmpeg("a.mp4", *pattern("48x32", 0.5), *h264, "-movflags", "frag_keyframe+empty_moov")
    exact("mp4", "fragments.mp4", fragments, time=False)
    # Sound only, and no brand that says so: a film without a size.
    only = ffmpeg("a.mp4", *tone(0.5), "-c:a", "aac", "-b:a", "16k")
    keep("mp4", "sound-only.mp4", only, ms=round(float(probe(only, "format", "duration")) * 1000))
    exact("mp4", "of-apple.m4v", b"".join([turned[:8], b"M4V ", turned[12:]]))
    long = ffmpeg("a.mp4", *pattern("48x32", 0.5), *h264)
    start = long.index(b"mdat") - 4
    # The same in a box with a size of 64 bits.
    size = struct.unpack(">I", long[start:start + 4])[0]
    wide = long[:start] + struct.pack(">I4sQ", 1, b"mdat", size + 8) + long[start + 8:]
    keep("mp4", "sizes-of-64-bits.mp4", wide, 48, 32, 500)
    # More than 32 bits of a fine scale: ffmpeg writes version 1 of the headers.
    exact("mp4", "times-of-64-bits.mp4", ffmpeg(
        "a.mp4", "-f", "lavfi", "-i", "testsrc=size=16x16:rate=1/3000000:duration=6000000", "-pix_fmt", "yuv420p", *h264,
        "-video_track_timescale", "100"))
    exact("quicktime", "film.mov", ffmpeg("a.mov", *pattern("40x40", 0.4), "-c:v", "mjpeg", "-q:v", "20"))
    mov = ffmpeg("a.mov", *pattern("40x20", 0.2), *h264)
    exact("quicktime", "without-type.mov", mov[struct.unpack(">I", mov[:4])[0]:])
    first = ffmpeg("a.mov", *pattern("40x24", 0.2), *h264, "-movflags", "+faststart")
    exact("quicktime", "index-first-without-type.mov", first[struct.unpack(">I", first[:4])[0]:])
    exact("avi", "film.avi", ffmpeg("a.avi", *pattern("56x24", 0.5), "-c:v", "mpeg4", "-q:v", "20"))
    exact("avi", "with-sound.avi", ffmpeg("a.avi", *tone(0.8), *pattern("24x56", 0.8), "-c:v", "mjpeg", "-q:v", "31",
                                          "-c:a", "adpcm_ms"))
    mpeg1, mpeg2 = ["-c:v", "mpeg1video", "-q:v", "25"], ["-c:v", "mpeg2video", "-q:v", "25"]
    rate = pattern(rate=25, seconds=0.2)
    keep("mpeg", "program-stream-1.mpg", ffmpeg("a.mpg", *rate, *mpeg1))
    keep("mpeg", "program-stream-2.vob", ffmpeg("a.vob", *rate, *mpeg2))
    keep("mpeg", "elementary-1.m1v", ffmpeg("a.m1v", *rate, *mpeg1))
    keep("mpeg2", "elementary-2.m2v", ffmpeg("a.m2v", *rate, *mpeg2))
    keep("mpeg2", "own-matrix.m2v", ffmpeg("a.m2v", *rate, *mpeg2, "-intra_matrix", ",".join(["16"] * 64)))
    keep("transportStream", "film.ts", ffmpeg("a.ts", *rate, *mpeg2))


def documents():
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"><script>alert(1)</script></svg>\n'
    prolog = '<?xml version="1.0" encoding="UTF-8"?>\n'
    keep("svg", "bare.svg", svg)
    keep("svg", "prolog.svg", prolog + svg)
    keep("svg", "byte-order-mark.svg", "\ufeff" + prolog + svg)
    keep("svg", "comments.svg", prolog + "<!-- made <by> hand -->\n<!-- > -->\n" + svg)
    keep("svg", "comment-first.svg", "<!-- made by hand -->" + svg)
    type = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">\n'
    keep("svg", "document-type.svg", prolog + type + svg)
    keep("svg", "entities.svg", prolog + '<!DOCTYPE a:svg [\n<!ENTITY a "<html>">\n]>\n' + svg.replace("svg", "a:svg"))
    keep("svg", "prefixed.svg", '<s:svg xmlns:s="http://www.w3.org/2000/svg"/>')
    keep("svg", "stylesheet.svg", prolog + '<?xml-stylesheet href="a.css"?>\n' + svg)
    keep("svg", "blanks.svg", "\n\t  " + svg)
    keep("svg", "utf-16.svg", (prolog.replace("UTF-8", "UTF-16") + svg).encode("utf-16"))
    keep("svg", "utf-16-big.svg", b"\xfe\xff" + (prolog + svg).encode("utf-16-be"))
    keep("svg", "utf-16-unmarked.svg", svg.encode("utf-16-le"))
    keep("svg", "long-comment.svg", prolog + "<!--" + "a licence " * 300 + "-->" + svg)
    page = "<html><head><title>a</title></head><body>b</body></html>\n"
    keep("html", "page.html", "<!DOCTYPE html>\n" + page)
    keep("html", "upper-case.html", page.upper())
    keep("html", "blanks.html", " \r\n\t" + page)
    keep("html", "byte-order-mark.html", "\ufeff" + page)
    keep("html", "utf-16.html", page.encode("utf-16"))
    keep("html", "script.html", "<script>alert(1)</script>")
    keep("html", "comment.html", "<!-- a --><em>b</em>")
    keep("html", "xhtml.html", prolog + '<!DOCTYPE html PUBLIC "a" "b"><html xmlns="http://www.w3.org/1999/xhtml"/>')
    keep("html", "fragment.html", '<p class="a">b')
    # Browsers would find the tag; text before it does not make it another file.
    keep("html", "svg-within.html", "<div><svg/></div>")
    keep("xml", "feed.xml", prolog + '<rss version="2.0"><channel/></rss>\n')
    keep("xml", "unclosed-comment.xml", prolog + "<!-- <svg>")
    keep("calendar", "event.ics", "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n")
    keep("pdf", "page.pdf", saved(picture(4, 4), "PDF"))
    elf = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0)
    keep("executable", "elf.bin", elf)
    keep("executable", "windows.exe", b"MZ" + bytes(58) + struct.pack("<I", 64) + b"PE\0\0" + bytes(20))
    keep("executable", "mach-o.bin", struct.pack("<IIIIIII", 0xFEEDFACF, 0x01000007, 3, 2, 0, 0, 0))
    keep("executable", "universal.bin", struct.pack(">II", 0xCAFEBABE, 2) + bytes(40))
    keep("executable", "java.class", struct.pack(">IHHH", 0xCAFEBABE, 0, 52, 1))
    keep("executable", "script.sh", "#!/bin/sh\necho hello\n")
    keep("executable", "module.wasm", b"\0asm\x01\0\0\0")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr(zipfile.ZipInfo("a.txt"), "a")
    keep("archive", "one.zip", out.getvalue())
    keep("archive", "empty.zip", b"PK\5\6" + bytes(18))
    keep("archive", "picture.svgz", gzip.compress(svg.encode(), mtime=0))
    keep("other", "empty.bin", "")
    keep("other", "text.txt", "GIF pictures, PNG pictures and a Gigabyte of WAVE files.\n" * 20)
    keep("other", "wide.txt", "The wide moov is no film.\n")
    keep("other", "card.vcf", "BEGIN:VCARD\r\nVERSION:4.0\r\nEND:VCARD\r\n")
    keep("other", "data.json", '{"a": "<html>"}')
    keep("other", "windows.txt", "MZ is how programs for Windows begin, and this letter, which is long enough.\n")
    # A sync of eleven bits, and no second frame behind it.
    keep("other", "sync-alone.mp3", b"\xff\xfb\x90\x00" + bytes(2000))
    keep("other", "cut-off.png", b"\x89PNG\r\n\x1a")
    keep("other", "adts.aac", ffmpeg("a.aac", *tone(0.2), "-c:a", "aac", "-b:a", "16k"))
    keep("other", "sound.ogg", ffmpeg("a.ogg", *tone(0.2), "-c:a", "libvorbis"))
    keep("other", "phone.3gp", ffmpeg("a.3gp", "-f", "lavfi", "-i", "testsrc=size=176x144:rate=5:duration=0.4", "-c:v",
                                      "h263", "-q:v", "31"))
    # A binary signature decides, not the rest of the file.
    keep("gif", "with-script.gif", saved(picture(2, 2, "P"), "GIF") + b"<script>alert(1)</script>", 2, 2)
    keep("html", "picture-behind.html", b"<html>" + saved(picture(2, 2), "PNG"))


pictures()
sounds()
films()
documents()
