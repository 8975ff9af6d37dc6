"""Extensions of files that are not pages. Extensions of scripts (``.php``, ``.cgi``) are not listed: they generate pages.

Also not listed are ``.txt``, ``.md`` and ``.xml``, which may be text or XHTML, and ``.com``, since pages are named after
companies.
"""

from __future__ import annotations

_BY_KIND = {
    "images": """
        ai apng avif bmp cdr cur dwg dxf eps gif heic heif icns ico jfif jp2 jpe jpeg jpg pbm pcx pgm png pnm
        ppm psd ras rgb svg svgz tga tif tiff webp xbm xcf xpm xwd
    """,
    "sound": """
        aac ac3 aif aifc aiff amr au flac kar m3u m3u8 m4a mid midi mka mp2 mp3 oga ogg opus ra ram snd wav wma
    """,
    "film": """
        3g2 3gp asf asx avi divx f4v flv m1v m2v m4v mkv mov mp4 mpa mpe mpeg mpg ogv qt rm rmvb swf ts vob webm
        wmv
    """,
    "archives and packages": """
        7z ar arj br bz2 cab conda cpio crate deb dmg egg gem gz gzip hqx iso jar lha lz lz4 lzh lzma pkg rar
        rpm sea shar sit sitx tar taz tbz tbz2 tgz txz uu war warc whl xpi xz z zip zipx zst
    """,
    "programs and disk images": """
        apk appimage bat bin class dll elf exe img ipa msi msu o obj pyc pyd sh so sys vhd vmdk wasm
    """,
    "fonts": """
        eot fon otf pfb pfm ttc ttf woff woff2
    """,
    "office documents and print": """
        azw3 chm djvu doc docm docx dot dotx dvi epub key latex mobi numbers odf odg odp ods odt pages pdf pot
        pps ppsx ppt pptm pptx ps pub rtf sxc sxi sxw tex vsd vsdx wpd wri xls xlsb xlsm xlsx xps
    """,
    "data": """
        avro bib bibtex csv dat db dta fits geojson h5 hdf ics ipynb json jsonl kml kmz las mat mdb nc npy npz
        parquet pickle pkl rda rdata rds sas7bdat sav shp sql sqlite toml topojson tsv vcf xsd xsl xslt yaml yml
    """,
    "parts of pages": """
        css js less map mjs scss
    """,
    "feeds": """
        atom rdf rss
    """,
    "checksums, keys and torrents": """
        asc crl crt der md5 p12 p7s pem sha1 sha256 sha512 sig torrent
    """,
}

FEED_EXTENSIONS = frozenset(_BY_KIND["feeds"].split())
NOT_A_PAGE = frozenset(extension for kind in _BY_KIND.values() for extension in kind.split())
