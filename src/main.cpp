#include "idem/app/app.hpp"

int main(int argc, char** argv) { return idem::app::main(argc, argv); }
