"""CSV and its relatives."""

import gzip
import os
import pickle

import numpy as np

from corpus import A, Case, drop, said

LINES = [f"{a!r},{b!r}" for a, b in A.tolist()]
CSV = "\n".join(["a,b", *LINES]) + "\n"
FAR = "1.000000000,2.000000000\n" * 60_000  # beyond what is read at a time
OTHER = np.array([[1.0, 2.0], [3.0, 4.0]])  # of the short ones


def with_value(text, end="\n"):
    """Numbers in two columns, and this text in line 4, column b."""
    return f"a,b{end}1,2{end}3,5{end}4,{text}{end}-2,0.25{end}".encode()


RIGHT = [
    Case("plain", CSV, A),
    Case("no line end at the end", CSV.rstrip(), A),
    Case("CRLF", CSV.replace("\n", "\r\n"), A),
    Case("CR alone", CSV.replace("\n", "\r"), A),
    Case("CR alone, no header", "\r".join(LINES), A),
    Case("LF after the header, CRLF after rows", "a,b\n" + "\r\n".join(LINES), A),
    Case("mark of UTF-8", b"\xef\xbb\xbf" + CSV.encode(), A),
    Case("mark of UTF-8 and CRLF", b"\xef\xbb\xbf" + CSV.replace("\n", "\r\n").encode(), A),
    Case("mark of UTF-8, no header", b"\xef\xbb\xbf" + "\n".join(LINES).encode(), A),
    Case("empty lines before the header", "\n\n" + CSV, A),
    Case("empty lines before the header, CR", "\r\r" + CSV.replace("\n", "\r"), A),
    Case("empty lines between rows", CSV.replace("\n", "\n\n"), A),
    Case("empty lines at the end", CSV + "\n\n\n", A),
    Case("blanks around", "a , b\n" + "\n".join(line.replace(",", " ,  ") for line in LINES), A),
    Case("semicolons", CSV.replace(",", ";"), A),
    Case("tabs", CSV.replace(",", "\t"), A, file="x.tsv"),
    Case("bars", CSV.replace(",", "|"), A, file="x.txt"),
    Case("capital letters in its name", CSV, A, file="X.CSV"),
    Case("numbers in quotes", CSV.replace(",2.0", ',"2.0"'), A),
    Case("header in quotes", CSV.replace("a,b", '"a","b"'), A),
    Case("a separator in a name", CSV.replace("a,b", '"a,x",b'), A),
    Case("a quote in a name", CSV.replace("a,b", '"a ""x""",b'), A),
    Case("a line end in a name", CSV.replace("a,b", '"a\nx",b'), A),
    Case("two line ends in names", CSV.replace("a,b", '"a\nx","b\r\ny"'), A),
    Case("a name of 200 000 characters", CSV.replace("a", "a" * 200_000), A),
    Case("a name of 200 000 characters in quotes", CSV.replace("a,b", f'"{"a" * 200_000}",b'), A),
    Case("letters of many alphabets", CSV.replace("a,b", "größe,価格🐧"), A),
    Case("text in a column that is left out", 'a,t,b\n1,"x, y",2\n3,z,4\n', OTHER, **drop("t")),
    Case("line ends in text that is left out", 'a,t,b\n1,"x\ny",2\n3,"\r\n",4\n', OTHER, **drop("t")),
    Case("quotes in text that is left out", 'a,t,b\n1,5" pipe,2\n3,"say ""x""",4\n', OTHER, **drop("t")),
    Case("long text that is left out", f"a,t,b\n1,{'x' * 200_000},2\n3,z,4\n", OTHER, **drop("t")),
    Case("Latin-1 that is left out", b"a,t,b\n1,K\xf6ln,2\n3,z,4\n", OTHER, "read as Latin-1", **drop("t")),
    Case("Latin-1 in the header", b"gr\xf6\xdfe,b\n1,2\n3,4\n", OTHER, "is not UTF-8, and is read as Latin-1"),
    Case("Latin-1, said", b"gr\xf6\xdfe,b\n1,2\n3,4\n", OTHER, **said(encoding="latin-1")),
    *[Case(code, CSV.encode(code), A) for code in ("utf-16", "utf-16-le", "utf-16-be", "utf-32")],
    Case("UTF-16 and line ends of Windows", CSV.replace("\n", "\r\n").encode("utf-16"), A),
    Case("decimal commas", CSV.replace(",", ";").replace(".", ","), A),
    Case("decimal commas, no header", "1,5;2,25\n3,5;4,0\n", [[1.5, 2.25], [3.5, 4]]),
    Case("decimal commas and tabs", "a\tb\n1,5\t2\n3\t4,25\n", [[1.5, 2], [3, 4.25]], file="x.tsv"),
    Case("decimal commas, said", "a;b\n1,500;2,250\n3,500;4,125\n", [[1.5, 2.25], [3.5, 4.125]],
         **said(decimal=",")),
    Case("a separator that is said", "a:b\n1:2\n3:4\n", OTHER, **said(delimiter=":")),
    Case("packed by gzip", gzip.compress(CSV.encode()), A, file="x.csv.gz"),
    Case("packed and UTF-16", gzip.compress(CSV.encode("utf-16")), A, file="x.csv.gz"),
    Case("packed and with tabs", gzip.compress(CSV.replace(",", "\t").encode()), A, file="x.tsv.gz"),
    Case("row names of pandas", ",a\n0,1\n1,2\n", [[1], [2]]),
    Case("row names of pandas, read twice", "Unnamed: 0,a\n0,1\n1,2\n", [[1], [2]]),
    Case("row names of R", '"a","b"\n"x",1,2\n"y",3,4\n', OTHER),
    Case("row names of R between blanks", '"a" "b" "t"\n"x" 1 2 "p q"\n"y" 3 4 "p q"\n', OTHER, "They are left out"),
    Case("a table of R between blanks, without row names", '"a" "b"\n1 2\n3 4\n', OTHER, file="x.txt"),
    Case("blanks, said", "a b\n1 2\n3 4\n", OTHER, **said(delimiter="blank")),
    Case("names in the first column of texts", "name,a,b\nx,1,2\ny,3,4\n", OTHER),
    Case("names in a later column", "a,t\n1,x\n2,y\n", [[1], [2]]),
    Case("an escape in a name of a column", "a,\x1b[31mb\n1,x\n2,y\n", [[1], [2]]),
    Case("markup in a name of a column", "a,[red]b\n1,x\n2,y\n", [[1], [2]]),
    Case("an escape in the name of a column that is left out", "a,\x1b[31mb\n1,x\n2,x\n", [[1], [2]], r"'\\x1b\[31mb'"),
    Case("texts that are the same", "a,t,b\n1,x,2\n3,x,4\n", OTHER, r"no numbers: 't' \(string\)\. They are left out"),
    Case("texts in two columns", "t,a,u,b\nx,1,p,2\ny,3,q,4\n", OTHER, r"no numbers: 'u' \(string\)\. They are left"),
    Case("dates", "a,t\n1,2020-01-01\n2,2020-01-02\n", [[1], [2]], r"'t' \(date32\[day\]\)"),
    Case("times", "a,t\n1,12:00:01\n2,12:30:00\n", [[1], [2]], r"'t' \(time32\[s\]\)"),
    Case("moments", "a,t\n1,2020-01-01 12:00:00\n2,2020-01-02 12:00:00\n", [[1], [2]], r"'t' \(timestamp"),
    Case("names, a label and a kept column", "k,n,l,a\n7,x,p,1\n8,y,p,2\n", [[1], [2]],
         **said(id="n", label="l", keep="k")),
    Case("NUL bytes that are left out", b"a,t,b\n1,x\0y,2\n3,z,4\n", OTHER, **drop("t")),
    Case("escapes that are left out", b"a,t,b\n1,\x1b[31m,2\n3,z,4\n", OTHER, **drop("t")),
    Case("gaps that are left out", "a,t,b\n1,?,2\n3,,4\n", OTHER, **drop("t")),
    Case("dates that are left out", "a,t,b\n1,2020-01-01,2\n3,2020-01-02,4\n", OTHER, **drop("t")),
    Case("exponents and signs", "a,b\n1e0,+2\n3.E0,.4e1\n", OTHER),
    Case("leading zeros", "a,b\n01,002\n3,0004\n", OTHER, "zeros in front, as codes have"),
    Case("true and false", "a,b\n1,true\n3,false\n", [[1, 1], [3, 0]]),
    Case("True and FALSE", "a,b\n1,True\n3,FALSE\n", [[1, 1], [3, 0]]),
    Case("numbers beyond 2⁵³", "a,b\n9007199254740993,1\n3,4\n", [[9007199254740992, 1], [3, 4]]),
    Case("denormal numbers", "a,b\n1e-310,1\n3,4\n", [[1e-310, 1], [3, 4]]),
    Case("too small a number", "a,b\n1e-400,1\n3,4\n", [[0, 1], [3, 4]]),
    Case("no header", "\n".join(LINES), A),
    Case("one column", "a\n1\n3\n", [[1], [3]]),
    Case("digits of 30 places", f"a,b\n{1 / 3:.30f},2\n3,4\n", [[1 / 3, 2], [3, 4]]),
    Case("a thousand columns", ",".join(f"c{i}" for i in range(1000)) + "\n" + ("1.5," * 1000)[:-1] + "\n"
         + ("2.5," * 1000)[:-1] + "\n", np.outer([1.5, 2.5], np.ones(1000))),
    Case("years as names, said", "2019,2020\n1,2\n3,4\n", OTHER, options={"header": True}, arguments=("--header",)),
    Case("years taken as a row", "2019,2020\n1,2\n3,4\n", [[2019, 2020], [1, 2], [3, 4]], "taken as a row of numbers"),
    Case("a first row with text", "1.5,2,Ulm\n1,2,x\n3,4,y\n", OTHER, "taken as names of columns", **drop("Ulm")),
    Case("names that are years in part", "country,2019,2020\nx,1,2\ny,3,4\n", OTHER, **drop("country")),
    Case("columns of another order", "b,a\n2,1\n4,3\n", OTHER, options={"columns": ["a", "b"]},
         arguments=("--columns", "a,b")),
]  # fmt: skip

GAPS = ["", "?", "None", "none", "NONE", "NA", "na", "N/A", "n/a", "NaN", "nan", "NAN", "-nan", "null", "NULL", "Null",
        "-", "--", ".", "#N/A", "missing", '""', " ", " ? "]  # fmt: skip
TEXTS = {
    "Ulm": "'Ulm'",
    "1,5": "decimal comma",
    "-1,5": "decimal comma",
    "0,100": "decimal comma",
    "1,234": r"decimal comma\? Write a point, or say so \(--decimal ,\)\. Thousands",
    "1,234,567": "Thousands",
    "1.234.567": "Thousands",
    "1'234": "Thousands",
    "1 234": "Thousands",
    "5%": "without its unit",
    "$5": "without its unit",
    "5 kg": "without its unit",
    "2020-01-31": "A date",
    "31.12.2020": "A date",
    "12/31/2020": "A date",
    "2020-01-31 12:00:00": "A date",
    "12:30": "'12:30'",
    "1.5 2.5": "Separated by blanks",
    "0x10": "'0x10'",
    "1_000": "'1_000'",
    "1e": "is no number|'1e'",
    "--1": "'--1'",
    "١٢": "is no number|no numbers",
    "yes": "Write 1 and 0",
    "true": "Write 1 and 0|no numbers",
    "[red]x[/red]": r"\[red\]x",
    "\x1b[31mx\x1b[0m": r"\\x1b\[31mx",
    "\x9b31mx": r"\\x9b31mx",
    "\u202ereversed": r"\\u202ereversed",
    "x" * 200_000: "field larger than",
    "x" * 2_000: r"'x{40}…'",
}

REFUSED = [
    *[
        Case(f"a gap written {gap!r}", with_value(gap), words=r"missing value \('.*'\): line 4 \(row 2, .*column 'b'")
        for gap in GAPS
    ],
    *[
        Case(f"{text[:20]!r} ({len(text)}) for a number", with_value(f'"{text}"'), words=words)
        for text, words in TEXTS.items()
    ],
    *[
        Case(f"{text!r} for a number", with_value(text), words=rf"infinite value \('{text}'\): line 4")
        for text in ("inf", "-inf", "Infinity", "1e400")
    ],
    Case("text after CR", with_value("Ulm", "\r"), words="'Ulm' in line 4"),
    Case("text after CRLF", with_value("?", "\r\n"), words=r"line 4 \(row 2"),
    Case("a gap after a line end in quotes", 'a,"b\nx"\n1,2\n3,\n', words=r"line 4 \(row 1.*column 'b\\nx'"),
    Case("a gap after empty lines", "\na,b\n\n1,2\n\n3,\n", words=r"line 6 \(row 1"),
    Case("a gap without header", "1,2\n3,\n", words=r"line 2 \(row 1, counted from 0\), column 1"),
    Case("Latin-1 in a number", b"a,b\n1,2\n3,\xe9\n", words="'é' in line 3"),
    Case("UTF-8, which it is not", b"gr\xf6\xdfe,b\n1,2\n", words="not UTF-8: .*--encoding", **said(encoding="utf-8")),
    Case("UTF-16 that ends within a letter", CSV.encode("utf-16")[:-1], words="is not UTF-16: "),
    Case("an encoding that there is not", CSV, words="there is no such encoding", **said(encoding="klingon")),
    Case("an encoding of no texts", CSV, words="no encoding of texts", **said(encoding="hex")),
    Case("a separator of two letters", CSV, words="no mark between fields", **said(delimiter="ab")),
    Case("a decimal mark that is none", CSV, words="no decimal mark", **said(decimal="x")),
    Case("one mark for both", CSV, words="cannot be told apart", **said(decimal=",", delimiter=",")),
    Case("thousands or decimals", "a;b\n1,234;2,345\n3,456;4,567\n", words=r"A decimal comma\?.*Thousands"),
    Case("a decimal point among commas", "a;b\n1,5;2\n3,5;4\n2.5;1\n", words="no number|no numbers"),
    Case("a decimal point after many commas", "a;b\n" + "1,5;2\n" * 300_000 + "2.5;1\n",
         words=r"'2\.5' is no number\. A decimal point among decimal commas\?"),
    Case("thousands set apart by blanks", "a\n1 234\n5 678\n", words="Thousands are set apart"),
    Case("thousands set apart by blanks under quotes", '"a"\n1 234\n5 678\n', words="Thousands are set apart"),
    Case("thousands set apart by blanks under two words", "net income\n1 234\n5 678\n", words="Thousands are set"),
    Case("gzip that was cut", gzip.compress(CSV.encode() * 99)[:-30], file="x.csv.gz", words=r"gz cannot be read"),
    Case("text called gzip", CSV, file="x.csv.gz", words=r"x\.csv\.gz cannot be read"),
    Case("names that are doubles", "n,a\nx,1\nx,2\n", words="cannot name rows: 1 name stands for more than one, 'x'",
         **said(id="n")),
    Case("names with gaps", "n,a\nx,1\n,2\n", words="cannot name rows: it has gaps", **said(id="n")),
    Case("names that are not there", "name,a\nx,1\ny,2\n", words="no column 'Name'.*Did you mean 'name'",
         **said(id="Name")),
    Case("a label that is not there", "species,a\nx,1\nx,2\n", words=r"no column 'spezies'.*Did you mean 'species'\?",
         **said(label="spezies")),
    Case("a feature that names rows", CSV, words="as a feature, and as the names of rows", **said(columns="a", id="a")),
    Case("no column of numbers", "a,b\nx,y\nz,w\n", words="has no columns of numbers, but columns that are no numbers"),
    Case("a label and nothing else", "l\n1\n2\n", words="0 columns|nothing to fit", **said(label="l")),
    Case("numbers with a word among them", "a,b\n1,2\n3,4\n5,oops\n", words=r"no numbers: 'b' .*'oops' in line 4"),
    Case("numbers with units", "a,b\n1,2 kg\n3,4 kg\n", words="Write the number without its unit"),
    Case("an array of a table", CSV, words="array is for .npz", **said(array="x")),
    Case("a layer of a table", CSV, words="layer is for .h5ad", **said(layer="x")),
    Case("a size of a table", CSV, words="resize is for folders of images", **said(resize="8x8")),
    Case("a NUL in a number", b"a,b\n1,2\n3,4\0\n", words="NUL"),
    Case("text far down", "a,b\n" + FAR + "3,x\n", words=r"line 60002 \(row 60000, .*'x' is no number"),
    Case("a gap far down", "a,b\n" + FAR + "3,\n", words=r"missing value \(''\): line 60002"),
    Case("more fields", "a,b\n1,2\n3,4,5\n", words="line 3 .*: 3 fields, where the first line has 2"),
    Case("fewer fields", "a,b\n1,2\n3\n", words="line 3 .*: 1 field, where the first line has 2"),
    Case("more fields far down", "a,b\n" + FAR + "3,4,5\n", words="line 60002 .*3 fields"),
    Case("a separator at the end of rows", "a,b\n1,2,\n3,4,\n", words="line 2 .*3 fields"),
    Case("a separator at the end of all lines", "a,b,\n1,2,\n3,4,\n", words="column without a name"),
    Case("a comment before the header", "# made by hand\na,b\n1,2\n3,4\n", words="line 2 .*: 2 fields"),
    Case("no separator that is known", "a b\n1 2\n3 4\n", words="Separated by blanks"),
    Case("a quote left open", 'a,b\n1,"2\n3,4\n', words="quote left open"),
    Case("a quote left open in text", 'a,t,b\n1,"x,2\n3,y,4\n5,z,6\n', words="quote left open", **drop("t")),
    Case("a quote left open in the header", '"a,b\n1,2\n3,4\n', words="quote left open|no numbers|nothing to fit"),
    Case("two columns of one name", "a,a\n1,2\n3,4\n", words="more than one column called 'a'"),
    Case("header alone", "a,b\n", words="nothing to fit"),
    Case("header alone without line end", "a,b", words="nothing to fit"),
    Case("header and empty lines", "a,b\n\n\n", words="nothing to fit"),
    Case("one row alone", "a,b\n1,2\n", [[1, 2]]),
    Case("empty", "", words="is empty"),
    Case("empty lines alone", "\n\n\r\n", words="is empty"),
    Case("blanks alone", "  \n \t \n", words="is empty"),
    Case("a mark of UTF-8 alone", b"\xef\xbb\xbf", words="is empty"),
    Case("NUL bytes alone", bytes(1000), words="NUL bytes"),
    Case("2 000 text columns", ",".join(f"c{i}" for i in range(2000)) + "\n" + ",".join("x" * 2000) + "\n",
         words="and 1,995 more"),
    Case("a web page", "<!DOCTYPE html>\n<html><body>404, not found</body></html>\n", words="line 2|no numbers"),
    Case("JSON", '[{"a": 1, "b": 2},\n {"a": 3, "b": 4}]\n', words=r"x\.csv"),
    Case("a pickle", pickle.dumps(A), words="a pickle, which is never read"),
    Case("gzip", b"\x1f\x8b\x08\0\0\0", words="compressed by gzip"),
    Case("a zip archive", b"PK\x03\x04abc", words="a zip archive"),
    Case("Parquet by another name", b"PAR1abc", words="a Parquet file"),
    Case(".npy by another name", b"\x93NUMPY\x01\0", words="an array of numpy"),
    Case("random bytes", np.random.default_rng(0).bytes(4000), words=r"x\.csv"),
    Case("a column that is not there", CSV, words="has no column 'z'; it has 'a', 'b'", **drop("z")),
    Case("a column twice", CSV, words="asked for more than once", options={"columns": ["a", "a"]},
         arguments=("--columns", "a,a")),
    Case("all columns left out", CSV, words="0 columns", **drop("a", "b")),
]  # fmt: skip

NAMES = [
    *[
        Case(f"a file called {name!r}", CSV, A, file=name)
        for name in ("a b.csv", "ä🐧.csv", "[red]x.csv", "a'b\".csv", "-x.csv", "--out.csv", "%s{0}.csv", "~.csv")
    ],
    Case("a file with a line end in its name", CSV, A, file="a\nb.csv"),
    Case("a file with an escape in its name", CSV, A, file="a\x1b[31mb.csv"),
    Case("a file whose name is no UTF-8", CSV, file=os.fsdecode(b"a\xffb.csv"), words=r"a\\udcffb.csv: .*rename"),
    Case("a bad file with an escape in its name", "a,b\n1,\n", file="a\x1b[31mb.csv", words=r"a\\x1b\[31mb\.csv cont"),
    Case("a bad file with a line end in its name", "", file="a\nb.csv", words=r"a\\nb\.csv is empty"),
    Case("an ending that is not known", CSV, file="x.xlsx", words="files of this kind cannot be read; known are .npy"),
    Case("no ending", CSV, file="x", words="files of this kind cannot be read"),
    Case("an ending with an escape", CSV, file="x.\x1bcsv", words="files of this kind cannot be read"),
    Case("a folder", lambda path: path.mkdir(), words="is a folder"),
    Case("nothing", lambda path: None, words="there is no such file"),
    Case("a link to nothing", lambda path: path.symlink_to("nowhere.csv"), words="there is no such file"),
    Case("a link to itself", lambda path: path.symlink_to("x.csv"), words=r"x\.csv"),
    Case("a pipe", lambda path: os.mkfifo(path), words="no regular file"),
    Case("a device", lambda path: path.symlink_to("/dev/zero"), words="no regular file"),
    Case("a name of 300 letters", lambda path: None, file="x" * 300 + ".csv", words="cannot be read|no such file"),
    Case("in a file as if in a folder", lambda path: path.parent.write_bytes(b""), file="y/x.csv", words=r"x\.csv"),
]  # fmt: skip


def linked(path):
    (path.parent / "y.csv").write_text(CSV)
    path.symlink_to("y.csv")


NAMES.append(Case("a link to a file", linked, A))
TEXT_CASES = RIGHT + REFUSED + NAMES
