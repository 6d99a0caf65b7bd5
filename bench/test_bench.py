#!/usr/bin/env python3
"""Checks what the benchmark computes: python3 bench/test_bench.py. Starts no servers."""
import unittest

import load
import measure
import profiles
import report
import run
from servers import SIZES, BenchError, answer_text


def row(peer, number, cpu, **more):
    return {"workload": "FIRST", "size": 150, "connections": 64, "peer": peer, "round": number, "cpu": cpu, "user": 1.0, "upstream": 2.0,
            "redis": 3.0, "rate": 1000.0, "p50": 10, "p99": 20, "requests": 100, "hits": 100, "faults": 0, "memory": 12.0, "other": 0.0, **more}


class Ratios(unittest.TestCase):
    # the machine is twice as slow in round 1; what is compared is what happened in the same round
    rows = [row("nginx", 0, 10), row("p", 0, 15), row("nginx", 1, 20), row("p", 1, 32), row("nginx", 2, 10), row("p", 2, 17)]

    def test_a_ratio_is_the_median_of_the_ratios_within_each_round(self):
        self.assertAlmostEqual(report.ratio(self.rows, ("FIRST", 150, 64, "p"), "cpu"), 1.6)

    def test_the_base_has_a_ratio_of_one(self):
        self.assertEqual(report.ratio(self.rows, ("FIRST", 150, 64, "nginx"), "cpu"), 1)

    def test_another_base_can_be_taken(self):
        self.assertAlmostEqual(report.ratio(self.rows, ("FIRST", 150, 64, "nginx"), "cpu", base="p"), 1 / 1.6)

    def test_a_round_without_the_base_does_not_count(self):
        rows = [r for r in self.rows if (r["peer"], r["round"]) != ("nginx", 1)]
        self.assertAlmostEqual(report.ratio(rows, ("FIRST", 150, 64, "p"), "cpu"), 1.6)
        self.assertIsNone(report.ratio([r for r in rows if r["peer"] == "p"], ("FIRST", 150, 64, "p"), "cpu"))

    def test_other_connection_counts_are_other_cells(self):
        rows = self.rows + [row("nginx", 0, 1, connections=1), row("p", 0, 9, connections=1)]
        self.assertAlmostEqual(report.ratio(rows, ("FIRST", 150, 64, "p"), "cpu"), 1.6)
        self.assertAlmostEqual(report.ratio(rows, ("FIRST", 150, 1, "p"), "cpu"), 9)


class Tables(unittest.TestCase):
    def test_columns_line_up(self):
        lines = report.text_table(["a", "long head"], [[1, "x"], ["longer", "y"]]).splitlines()
        self.assertEqual(lines, ["| a      | long head |", "|--------|-----------|", "| 1      | x         |", "| longer | y         |"])

    def test_a_line_shows_median_range_and_ratio(self):
        line = report.peers_table(Ratios.rows).splitlines()[3]
        self.assertEqual([f.strip() for f in line.split("|")[1:6]], ["FIRST", "150 B", "64", "p", "17.0 (15.0–32.0; 1.0)"])
        self.assertEqual(line.split("|")[6].strip(), "1.60")

    def test_calls_are_divided_by_requests_and_the_most_come_first(self):
        text = report.calls_table([{"workload": "PASS", "connections": 1, "peer": "p", "requests": 200, "calls": {"read": 200, "send": 500, "x": 1}}])
        self.assertIn("| 3.50 ", text)
        self.assertIn("send 2.50, read 1.00 |", text)


class Merging(unittest.TestCase):
    text = f"before\n{report.BEGIN}\n\n### A\n\nold a\n\n### B\n\nold b\n\n{report.END}\nafter\n"

    def test_only_the_sections_that_were_measured_change(self):
        got = report.merge(self.text, {"A": "new a\n", "C": "new c"})
        self.assertEqual(got, f"before\n{report.BEGIN}\n\n### A\n\nnew a\n\n### B\n\nold b\n\n### C\n\nnew c\n\n{report.END}\nafter\n")
        self.assertEqual(report.merge(got, {}), got)

    def test_the_first_section_needs_none_before_it(self):
        got = report.merge(f"{report.BEGIN}\n{report.END}\n", {"A": "a"})
        self.assertEqual(got, f"{report.BEGIN}\n\n### A\n\na\n\n{report.END}\n")

    def test_a_file_without_both_markers_is_left_alone(self):
        for text in ("", report.BEGIN, f"{report.END}\n{report.BEGIN}", self.text + report.END):
            with self.assertRaises(BenchError):
                report.merge(text, {"A": "a"})


class Verdicts(unittest.TestCase):
    good = {"statuses": 0, "connect": 0, "read": 0, "write": 0, "timeout": 0, "bytes": 30000}

    def verdict(self, replays=False, hits=100, **result):
        return run.verdict(row("p", 0, 1, hits=hits), {**self.good, **result}, 300, replays)

    def test_a_good_run_has_no_fault(self):
        self.assertEqual(self.verdict(), [])
        self.assertEqual(self.verdict(hits=164), [])  # the last request of each connection was cut
        self.assertEqual(self.verdict(replays=True, hits=0), [])

    def test_failed_requests_are_faults(self):
        for kind in ("statuses", "connect", "read", "write", "timeout"):
            self.assertEqual(len(self.verdict(**{kind: 1})), 1, kind)

    def test_one_replay_that_reaches_the_backend_is_a_fault(self):
        self.assertEqual(len(self.verdict(replays=True, hits=1)), 1)

    def test_a_first_request_that_does_not_reach_the_backend_is_a_fault(self):
        self.assertEqual(len(self.verdict(hits=99)), 1)
        self.assertEqual(len(self.verdict(hits=165)), 1)

    def test_answers_of_another_length_are_a_fault(self):
        self.assertEqual(len(self.verdict(bytes=29800)), 1)
        self.assertEqual(len(self.verdict(bytes=50000)), 1)
        self.assertEqual(self.verdict(bytes=49000), [])  # with what was read of 64 answers that were cut


class Parsing(unittest.TestCase):
    def test_the_result_is_the_line_of_the_script(self):
        self.assertEqual(load.parse('Running\n\nRESULT {"requests":7}\n')["requests"], 7)
        with self.assertRaises(BenchError):
            load.parse("unable to connect")

    def test_calls_that_perf_counted(self):
        text = "15,,raw_syscalls:sys_enter,1,1,,\n12,,syscalls:sys_enter_read,100,100.00,,\n0,,syscalls:sys_enter_openat,1,1,,\n" \
               "<not counted>,,syscalls:sys_enter_x,0,0,,\n"
        self.assertEqual(measure.parse_perf_counts(text), {"read": 12, "others": 3})

    def test_calls_that_strace_counted(self):
        text = "syscall               calls\n---------------- ----------\nepoll_wait             120\nread                     7\n---------------- ----------\n" \
               "total                  127\n"
        self.assertEqual(measure.parse_strace_counts(text), {"epoll_wait": 120, "read": 7})

    def test_answers_have_the_length_that_their_path_asks_for(self):
        for size in SIZES:
            if size > 150:
                self.assertEqual(len(answer_text(size)), size)


class Profiles(unittest.TestCase):
    text = "proxy 7 \n\t 1f inner+0x1 \n\t 2f outer\n\nproxy 7 \n\t 1f inner\n\t 2f outer\n\nproxy 7 \n\t 2f outer\n\n"

    def test_equal_stacks_are_folded_with_the_outermost_first(self):
        self.assertEqual(profiles.fold(self.text), {("outer", "inner"): 2, ("outer",): 1})

    def test_functions_know_their_own_samples_and_those_below(self):
        self.assertEqual(profiles.functions(profiles.fold(self.text)), [("inner", 2, 2), ("outer", 1, 3)])

    def test_a_recursive_function_counts_once_for_each_sample(self):
        self.assertEqual(profiles.functions({("f", "f", "f"): 5}), [("f", 5, 5)])

    def test_names_lose_what_nobody_reads(self):
        for long, wanted in {
            "std::vector<int, std::allocator<int> >::push_back(int&&)": "std::vector::push_back",
            "void a::b<c<(d)1>, e<f(g)> >::h<i>(j<k>) const": "a::b::h",
            "idem::(anonymous namespace)::append(std::string&, char)": "idem::{anonymous}::append",
            "a::b(int) [clone .resume]": "a::b [resume]",
            "boost::asio::awaitable<void, x> a::run() [clone .resume]": "a::run [resume]",
            "bool a::operator< <int>(int)": "a::operator<",
            "a::f()::{lambda(int, b<c>)#1}::operator()(int) const": "a::f::{lambda#1}::operator()",
            "__libc_recv": "__libc_recv",
        }.items():
            self.assertEqual(profiles.short(long), wanted)

    def test_a_flame_graph_is_an_svg_with_a_box_for_each_function(self):
        import xml.etree.ElementTree as tree
        picture = tree.fromstring(profiles.flame_graph({("outer<T>", "inner"): 3, ("outer<T>",): 1}, "a & b"))
        titles = [e.text for e in picture.iter("{http://www.w3.org/2000/svg}title")]
        self.assertEqual(titles, ["outer<T>: 4 samples, 100.0 %", "inner: 3 samples, 75.0 %"])


if __name__ == "__main__":
    unittest.main()
